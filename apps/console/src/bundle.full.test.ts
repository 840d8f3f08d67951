import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { build } from 'vite'
import { consoleConfig } from '../viteConfig.ts'

const maxCompressedBytes = 400_000

const home = mkdtempSync(join(tmpdir(), 'paylog-console-'))
t.teardown(() => rmSync(home, { recursive: true, force: true }))
const directory = join(home, 'dist')
await build(consoleConfig(directory))
const assets = readdirSync(join(directory, 'assets')).map((name) => ({
  name,
  content: readFileSync(join(directory, 'assets', name)),
}))
const page = readFileSync(join(directory, 'index.html'), 'utf8')

t.test(
  'scripts and styles of the console stay below 400 kB, compressed, and each page is a file of its own',
  async (t) => {
    const total = assets.reduce((sum, { content }) => sum + gzipSync(content).length, 0)
    t.ok(total <= maxCompressedBytes, `${total} bytes`)
    for (const name of ['OverviewPage', 'PaymentsPage', 'PaymentPage', 'CustomerPage', 'ProductsPage', 'Chart']) {
      const files = assets.filter((asset) => asset.name.startsWith(`${name}-`) && asset.name.endsWith('.js'))
      t.equal(files.length, 1, name)
    }
  },
)

t.test('the page of the console loads nothing from other hosts and has no inline script', async (t) => {
  t.notMatch(page, /<script(?![^>]*\bsrc=)/)
  t.notMatch(page, /\son\w+=/)
  const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '')
  t.ok(addresses.length >= 3)
  for (const address of addresses) t.match(address, /^\/console\//)
  for (const { name, content } of assets.filter((asset) => asset.name.endsWith('.css'))) {
    t.notMatch(content.toString(), /@import|url\(["']?(https?:)?\/\//, name)
  }
})

t.test('the page of the console has a place for the nonce of its policy', async (t) => {
  t.match(page, '<meta property="csp-nonce" nonce="__CSP_NONCE__">')
})
