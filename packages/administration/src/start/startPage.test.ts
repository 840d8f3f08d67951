// The start page over HTTP.
import { createServer } from 'node:http'
import { providerVariables } from '@paylog/commands/provider-calls/enabledProviders'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createHttp } from '@paylog/runtime/http/http'
import type { StartPage } from '@paylog/runtime/http/pages/startPage'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import { listen } from '@paylog/testing/fakeServer'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { createSystem } from '../system/system.ts'
import { startPagePlugin } from './startPage.ts'

const log = createLog({ app: 'test', level: 'silent' })
const sandbox = {
  SANDBOX_PROVIDER: 'true',
  SANDBOX_WEBHOOK_SECRET: 'secret',
  SANDBOX_DATABASE_URL: 'postgres://127.0.0.1:1/none',
  SANDBOX_PAGE_URL: 'http://127.0.0.1:8080',
}
const stripe = { STRIPE_SECRET_KEY: 'sk_live_made_up', STRIPE_WEBHOOK_SECRET: 'whsec_made_up' }

/** @returns the page of an API with a worker that is ready and a projector that is not there */
async function show(t: Test, startPage: StartPage, env: Readonly<Record<string, string>>) {
  const worker = createServer((_request, response) => response.end('{"status":"ready","checks":{}}'))
  const health = createHealth({ resultAgeMs: 0 })
  health.check('event_store', async () => ({}))
  health.check('postgres', () => Promise.reject(new Error('gone')))
  const others = [`worker=${await listen(t, worker)}`, 'projector=http://127.0.0.1:1']
  const system = createSystem({ app: 'api', health, others })
  const http = createHttp({ log })
  const config = loadConfig(Type.Object(providerVariables), env)
  await http.register(startPagePlugin({ config, system, startPage }))
  t.teardown(() => http.close())
  const { statusCode, headers, body } = await http.inject('/')
  return {
    statusCode,
    headers,
    body,
    text: body.replaceAll(/<style>[\s\S]*<\/style>|<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
  }
}

t.test('the start page shows what runs, and what does not', async (t) => {
  const { statusCode, text } = await show(t, 'demo', sandbox)
  t.equal(statusCode, 200)
  t.match(text, /Paylog is running Version \d+\.\d+\.\d+/)
  for (const row of [
    'api unavailable fails: postgres',
    'worker ready',
    'projector unreachable',
    'event store ready',
    'Postgres unavailable',
    'provider sandbox test moves no real money',
  ])
    t.match(text, row)
  t.match(text, /console (ready|not built)/)
})

t.test('the start page with the demo identity signs in, and its button leads to the sandbox', async (t) => {
  const { body, headers } = await show(t, 'demo', sandbox)
  t.match(body, 'href="/console#session=demo-admin-session"')
  t.match(body, 'X-Guest-Token: demo-guest-token')
  t.match(
    body,
    '<form method="post" action="/pages/first-payment"><button class="primary">Pay 22.00 EUR</button></form>',
  )
  t.match(headers['content-security-policy'], "form-action 'self' http://127.0.0.1:8080;")
  t.notMatch(body, /<script| on[a-z]+=|style=/)
})

t.test('the start page with an identity backend and live providers has no demo sessions and no button', async (t) => {
  const { body, text } = await show(t, 'on', stripe)
  t.notMatch(body, /demo-|first-payment/)
  t.match(body, 'href="/console"')
  t.match(text, 'With a session of your identity backend')
  t.match(text, 'provider stripe live moves real money')
})

t.test('without START_PAGE there is no start page', async (t) => {
  t.equal((await show(t, 'off', sandbox)).statusCode, 404)
})
