// How Vite builds the console.
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'

/** The server replaces it in the page with the nonce of the response's content security policy. */
const noncePlaceholder = '__CSP_NONCE__'

/** @param outDir where the built files go */
export const consoleConfig = (outDir: string): InlineConfig => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  configFile: false,
  base: '/console/',
  logLevel: 'warn',
  plugins: [react()],
  html: { cspNonce: noncePlaceholder },
  // The test runner depends on an older React, which is in the root.
  resolve: { dedupe: ['react', 'react-dom'] },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // The policy forbids scripts and fonts in URLs of their own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
})
