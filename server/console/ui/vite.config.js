// The names of the outputs are fixed, because server/console/src/files.rs embeds them by name.
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/ui/',
  build: {
    target: 'es2022',
    outDir: 'dist',
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name][extname]',
      },
    },
  },
});
