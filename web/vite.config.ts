import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// HAI_URL names the server to develop against, e.g. the address `hai dev up` prints, whose certificate
// is of its own CA.
const proxy = { '/api': { target: process.env.HAI_URL ?? 'http://127.0.0.1:8080', secure: false } };

export default defineConfig({
  plugins: [react()],
  server: { proxy, fs: { allow: ['..'] } }, // the runbooks of docs/
  preview: { proxy },
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: true },
});
