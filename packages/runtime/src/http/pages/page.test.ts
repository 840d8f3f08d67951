// Pages without scripts: escaping, forms, and errors in plain words.
import { DomainError } from '@paylog/domain/errors'
import t from 'tap'
import { Type } from 'typebox'
import { createLog } from '../../telemetry/log.ts'
import { createHttp } from '../http.ts'
import { html } from './html.ts'
import { sendPage, servePages } from './page.ts'

const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
t.teardown(() => http.close())
await http.register(async (scope) => {
  servePages(scope)
  scope.get('/limited', () => Promise.reject(new DomainError('rate_limited', 'Too many <requests>')))
  const schema = { body: Type.Object({ name: Type.String({ maxLength: 20 }) }) }
  scope.post<{ Body: { name: string } }>('/form', { schema }, async ({ body }, reply) =>
    sendPage(reply, { title: body.name, body: html`<p>${body.name}</p>`, formOrigins: ['https://a.example'] }),
  )
})

const submit = (payload: string, headers: Readonly<Record<string, string>> = {}) =>
  http.inject({
    method: 'POST',
    url: '/form',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload,
  })

t.test('html escapes values in text and attributes, and takes fragments, lists and nothing', async (t) => {
  const hostile = `<b a="1" c='2'>&`
  const escaped = '&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;'
  t.equal(html`<p title="${hostile}">${hostile}</p>`.html, `<p title="${escaped}">${escaped}</p>`)
  t.equal(html`${[html`<i>${'<'}</i>`, 7, '>']}${null}${undefined}`.html, '<i>&lt;</i>7&gt;')
})

t.test('a form is read, and its page escapes it and lets forms lead to named origins only', async (t) => {
  const { statusCode, headers, body } = await submit('name=%3Cscript%3E+%26')
  t.equal(statusCode, 200)
  t.match(body, '<title>&lt;script&gt; &amp;</title>')
  t.match(body, '<p>&lt;script&gt; &amp;</p>')
  t.match(headers['content-security-policy'], "form-action 'self' https://a.example;")
  t.match(headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
})

t.test('errors are pages, escaped, with their status', async (t) => {
  const limited = await http.inject('/limited')
  t.equal(limited.statusCode, 429)
  t.match(limited.body, '<p>Too many &lt;requests&gt;</p>')
  t.match(limited.headers, { 'content-type': /html/, 'content-length': String(Buffer.byteLength(limited.body)) })
  for (const [payload, status] of [
    ['name=a&name2=b', 400],
    ['', 400],
    [`name=${'x'.repeat(17_000)}`, 413],
  ] as const)
    t.match(await submit(payload), { statusCode: status, body: /^<!doctype html>/ }, payload)
})

t.test('a form of another site is rejected, also of the same site', async (t) => {
  for (const from of ['cross-site', 'same-site', 'none'])
    t.equal((await submit('name=a', { 'sec-fetch-site': from })).statusCode, 403, from)
  t.equal((await submit('name=a', { 'sec-fetch-site': 'same-origin' })).statusCode, 200)
})
