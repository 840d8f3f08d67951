// The page behind `redirect_url`: what it posts where, and what it forbids.
import { createHash } from 'node:crypto'
import { hostedPagePath } from '@paylog/providers/authorize-net/plugin'
import { startFakeAuthorizeNet } from '@paylog/testing/authorize-net/fakeAuthorizeNet'
import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'
import { providerFromEnv } from '../testing/fakeProviders.ts'

t.test('the page for Authorize.Net posts a token to its form only, and runs only its own script', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const { app } = await commandApiHarness(t, { providers: [await providerFromEnv(t, fake.env)] })
  const { statusCode, headers, body } = await app.inject(hostedPagePath)
  t.equal(statusCode, 200)
  const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(body) ?? []
  t.match(script, 'form.submit()')
  const hash = createHash('sha256').update(script).digest('base64')
  t.equal(
    headers['content-security-policy'],
    `default-src 'none'; script-src 'sha256-${hash}'; form-action https://test.authorize.net; base-uri 'none'; frame-ancestors 'none'`,
  )
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  t.match(body, '<form method="post" action="https://test.authorize.net/payment/payment">')
  t.notMatch(body, / on[a-z]+=|style=/)
})

t.test('the redirect_url of a payment holds its token in the fragment, percent-encoded', async (t) => {
  const fake = await startFakeAuthorizeNet(t)
  const env = { ...fake.env, AUTHORIZE_NET_PAGE_URL: 'https://api.example.com/' }
  const provider = await providerFromEnv(t, env)
  const { app } = await commandApiHarness(t, { providers: [provider] })
  const payload = { total_cents: 2599, currency: 'USD' }
  const { data } = (await app.inject({ method: 'POST', url: '/payments/intents', payload })).json()
  t.equal(data.redirect_url, `https://api.example.com${hostedPagePath}#${encodeURIComponent(data.client_secret)}`)
})

t.test('the page for Authorize.Net is 404 when the provider is not enabled', async (t) => {
  const { app } = await commandApiHarness(t)
  const { statusCode, headers } = await app.inject(hostedPagePath)
  t.equal(statusCode, 404)
  t.match(headers['content-type'], /^application\/json/)
})
