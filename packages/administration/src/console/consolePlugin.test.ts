import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { browserHeaders } from '@paylog/runtime/http/browserHeaders'
import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import t, { type Test } from 'tap'
import { consolePlugin } from './consolePlugin.ts'

const page =
  '<meta property="csp-nonce" nonce="__CSP_NONCE__"><script src="/console/assets/a-1.js" nonce="__CSP_NONCE__">'

function builtFiles(t: Test): string {
  const home = mkdtempSync(join(tmpdir(), 'paylog-console-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  return join(home, 'dist')
}

function build(directory: string): void {
  mkdirSync(join(directory, 'assets'), { recursive: true })
  writeFileSync(join(directory, 'index.html'), page)
  writeFileSync(join(directory, '.sources'), 'hash')
  writeFileSync(join(directory, 'assets/a-1.js'), 'script')
  writeFileSync(join(directory, 'assets/a-1.js.gz'), gzipSync('script'))
}

async function serve(t: Test, directory: string, sessionCookie = false) {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  t.teardown(() => http.close())
  await browserHeaders(http, { origins: [] })
  await http.register(consolePlugin({ sessionCookie, directory }))
  return (url: string, headers: Record<string, string> = {}) => http.inject({ url, headers })
}

t.test('every path of the console has the page, with a policy of its own', async (t) => {
  const directory = builtFiles(t)
  build(directory)
  const get = await serve(t, directory)
  const nonces = new Set<string>()
  for (const path of ['/console', '/console/', '/console/payments/1?as_of=x', '/console/a/b.c']) {
    const { statusCode, headers, body } = await get(path)
    t.equal(statusCode, 200, path)
    t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    const policy = String(headers['content-security-policy'])
    const [, nonce = ''] = /style-src 'self' 'nonce-([\w+/]{24})'/.exec(policy) ?? []
    t.equal(body, page.replaceAll('__CSP_NONCE__', nonce))
    t.match(policy, "default-src 'none'; script-src 'self'; ")
    t.match(policy, "frame-ancestors 'none'")
    t.notMatch(policy, /unsafe|https?:|\*/)
    nonces.add(nonce)
  }
  t.equal(nonces.size, 4, 'a new nonce in each response')
})

t.test('assets may be kept for a year and are compressed; missing ones are 404, not the page', async (t) => {
  const directory = builtFiles(t)
  build(directory)
  const get = await serve(t, directory)
  const plain = await get('/console/assets/a-1.js')
  t.equal(plain.body, 'script')
  t.match(plain.headers, { 'cache-control': 'public, max-age=31536000, immutable', 'content-type': /javascript/ })
  const compressed = await get('/console/assets/a-1.js', { 'accept-encoding': 'gzip, br' })
  t.match(compressed.headers, { 'content-encoding': 'gzip', 'content-type': /javascript/, vary: /accept-encoding/ })
  for (const path of ['missing.js', '../index.html', '..%2f.sources', '%2e%2e/.sources', '.sources']) {
    const { statusCode, body } = await get(`/console/assets/${path}`)
    t.ok([200, 400, 403, 404].includes(statusCode), `${path}: ${statusCode}`)
    t.notMatch(body, /^hash/, path)
    if (statusCode === 200) t.match(body, 'csp-nonce', `${path} is the page`)
  }
  t.equal((await get('/console/assets/missing.js')).statusCode, 404)
})

t.test('the page appears as soon as it is built, and until then says how to build it', async (t) => {
  const directory = builtFiles(t)
  const get = await serve(t, directory)
  const before = await get('/console')
  t.equal(before.statusCode, 404)
  t.match(before.headers['content-type'], 'text/plain')
  t.match(before.body, 'npm run build -w apps/console')
  build(directory)
  t.equal((await get('/console')).statusCode, 200)
  t.equal((await get('/console/assets/a-1.js')).statusCode, 200)
})

t.test('config.json says whether the session may be in a cookie', async (t) => {
  for (const sessionCookie of [true, false]) {
    const get = await serve(t, builtFiles(t), sessionCookie)
    t.same((await get('/console/config.json')).json(), { session_cookie: sessionCookie })
  }
})
