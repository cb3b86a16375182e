import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// HAI_URL names the server to develop against, e.g. the address `hai dev up` prints.
export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/api': process.env.HAI_URL ?? 'http://127.0.0.1:8080' } },
  preview: { proxy: { '/api': process.env.HAI_URL ?? 'http://127.0.0.1:8080' } },
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: true },
});
