// Runs a TypeScript file with Vite's own loader: node e2e/run.mjs FILE ARGS
import { runnerImport } from 'vite';

const [file] = process.argv.splice(2, 1);
await runnerImport(`./${file}`, { configFile: false, logLevel: 'error' });
