// The state of a payment as of a past time equals what its owner read at that time, over HTTP and on the command line.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createEventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { startFakeTraceCollector } from '@paylog/testing/fakeTraceCollector'
import { startSystem } from '@paylog/testing/system'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { client } from './testing/roundTripHarness.ts'

const ops = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url))
const ada = { 'x-session-id': 'demo-session' }
const admin = { 'x-session-id': 'demo-admin-session' }
type PaymentBody = { readonly id: string; readonly status: string; readonly payment_method: { readonly alias: string } }

// Tracing is off, which the last test is about.
const collector = await startFakeTraceCollector(t)
const system = await startSystem(t, {
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_SDK_DISABLED: 'true',
})

t.test('every past state that an owner has read can be read again with as_of', async (t) => {
  const { settle } = client(system)
  const send = async (path: string, headers: Record<string, string>, method = 'GET', body?: object) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(`${system.baseUrl}${path}`, { method, headers: { ...headers, ...type }, ...json })
    const text = await response.text()
    return { status: response.status, etag: response.headers.get('etag'), text, data: JSON.parse(text).data }
  }
  const saved = await send('/payment-methods', ada, 'POST', {
    payment_method_token: 'pm_card_visa',
    provider_id: 'sandbox',
    alias: 'Mine',
  })
  const order = { total_cents: 2599, currency: 'EUR', provider_id: 'sandbox', payment_method_id: saved.data.id }
  const { data: opened } = await send('/payments/intents', ada, 'POST', order)
  const rename = (alias: string) => send(`/payment-methods/${saved.data.id}`, ada, 'PUT', { alias })

  const responses: { readonly time: string; readonly seen: Awaited<ReturnType<typeof send>> }[] = []
  /** Polls as the owner until the payment has this status and alias, then records the response and the time. */
  async function recordWhen(status: string, alias: string): Promise<void> {
    const seen = await waitFor(
      async () => {
        const result = await send(`/payments/${opened.id}`, ada)
        const { status: now, payment_method }: PaymentBody = result.data
        return now === status && payment_method.alias === alias && result
      },
      { what: `a payment that is ${status} by ${alias}` },
    )
    responses.push({ time: new Date().toISOString(), seen })
  }
  await recordWhen('pending', 'Mine')
  await settle(opened.provider_intent_id, 'failed')
  await recordWhen('failed', 'Mine')
  await rename('Work')
  await recordWhen('failed', 'Work')
  await settle(opened.provider_intent_id)
  await recordWhen('succeeded', 'Work')
  await rename('Old')
  await recordWhen('succeeded', 'Old')

  const history = (await send(`/admin/payments/${opened.id}/history`, admin)).data
  for (const { time, seen } of responses) {
    const then = await send(`/admin/payments/${opened.id}?as_of=${time}`, admin)
    t.same([then.status, then.etag, then.data], [200, seen.etag, { ...seen.data, attention: [] }], time)
    const args = [ops, 'payments', 'show', opened.id, '--at', time, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: {
        ...moduleLoading,
        EVENTSTORE_URL: system.eventStoreUrl,
        DATABASE_URL: system.databaseUrl,
        PII_MASTER_KEY: testMasterKey,
      },
    })
    const shown = JSON.parse(stdout)
    t.same(Object.keys(shown), ['payment', 'history', 'deliveries'])
    t.equal(JSON.stringify(shown.payment), JSON.stringify(then.data))
    t.equal(
      JSON.stringify(shown.history),
      JSON.stringify(
        history.filter(({ revision }: { revision: number }) => revision <= Number(seen.etag?.slice(1, -1))),
      ),
    )
  }
  t.same(
    (await send(`/admin/payments/${opened.id}`, admin)).data,
    { ...(await send(`/payments/${opened.id}`, ada)).data, attention: [] },
    'now',
  )
  t.same(
    history.map(({ type, status_after, actor }: Record<string, string>) => [type, status_after, actor?.split(':')[0]]),
    [
      ['PaymentInitiated', 'pending', 'session'],
      ['ProviderIntentCreated', 'pending', 'session'],
      ['PaymentAttemptFailed', 'failed', 'provider'],
      ['PaymentSucceeded', 'succeeded', 'provider'],
    ],
  )
})

t.test('with tracing off nothing is exported and events have no traceparent', async (t) => {
  const { id, provider_intent_id } = await client(system).open()
  await client(system).settle(provider_intent_id)
  const store = createEventStore({ connectionString: system.eventStoreUrl, keys: system.keys })
  t.teardown(() => store.close())
  const events = await store.readStream(paymentStream(id))
  t.ok(events.length > 2)
  for (const { metadata } of events) t.notOk('traceparent' in metadata)
  // The spans of the test before would have been sent long ago.
  t.equal(collector.requests.length, 0)
})
