// Builds the package that others install into `dist` (`npm run build -w packages/client`). Workspaces of this repository import
// the source, so they need no build.
import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const here = join(root, 'packages/client')

/** @returns the folder, for `npm pack` */
export function buildClient(): string {
  const dist = join(here, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const compiler = join(root, 'node_modules/.bin/tsc')
  execFileSync(compiler, ['-p', join(here, 'tsconfig.build.json')], { stdio: ['ignore', 'inherit', 'inherit'] })
  // It has types only.
  rmSync(join(dist, 'schema.js'))
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(packedManifest(manifest), undefined, 2)}\n`)
  const page = readFileSync(join(root, 'docs/client.md'), 'utf8')
  // The other pages are not in the package.
  writeFileSync(join(dist, 'README.md'), page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1'))
  copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
  return dist
}

/** The manifest without what is for this repository, and with the compiled files in place of the source. */
function packedManifest(manifest: { readonly exports: Readonly<Record<string, string>> }): object {
  const compiled = Object.entries(manifest.exports).map(([name, source]) => {
    const file = source.replace('/src/', '/').replace(/\.ts$/, '')
    // `require` uses `default` too, and gets what Node gives for an ES module.
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }] as const
  })
  const own = { private: undefined, scripts: undefined, devDependencies: undefined }
  // `main` and `types` are for programs that do not know `exports`.
  const root = { main: './client.js', types: './client.d.ts' }
  return { ...manifest, ...own, ...root, exports: Object.fromEntries(compiled) }
}

if (import.meta.main) buildClient()
