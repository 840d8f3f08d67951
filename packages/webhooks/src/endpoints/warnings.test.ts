import t, { type Test } from 'tap'
import { endpointSettings, type Settings } from '../testing/eventFixtures.ts'
import { decodeEndpoints } from './endpoints.ts'

function warnings(t: Test, ...settings: readonly Settings[]): readonly string[] {
  const { warnings, problems } = decodeEndpoints(Object.assign({}, ...settings))
  t.strictSame(problems, [])
  return warnings
}

const eventsOf = (t: Test, mode: string, EVENTS: string) => warnings(t, endpointSettings(1, mode, { EVENTS }))
const unmatchedWarning = (variable: string, mode: string, place: number) =>
  `${variable} covers nothing that a ${mode} node is told with its pattern number ${place}`
const list = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/a,https://example.com/b' }

t.test('a pattern that covers nothing is told of by its place', async (t) => {
  for (const pattern of ['payments.*', 'payment.succeded', 'payment_intent.*', 'stripe:*', 'sandbox:payment.created'])
    t.strictSame(
      eventsOf(t, 'canonical', `payment.*,${pattern}`),
      [unmatchedWarning('WEBHOOK_1_EVENTS', 'canonical', 2)],
      pattern,
    )
  for (const mode of ['raw', 'both'])
    t.strictSame(eventsOf(t, mode, 'strip:*,all'), [unmatchedWarning('WEBHOOK_1_EVENTS', mode, 1)], mode)
  for (const pattern of ['payment.*', 'payments.*', 'charge.succeeded', 'strip:charge.*'])
    t.strictSame(
      warnings(t, list, { EXTERNAL_WEBHOOK_EVENTS: `customer.*,invoice.payment_failed,${pattern}` }),
      [unmatchedWarning('EXTERNAL_WEBHOOK_EVENTS', 'legacy', 3)],
      pattern,
    )
})

t.test('and none that covers something', async (t) => {
  t.strictSame(eventsOf(t, 'canonical', 'all,payment.*,subscription.cancelled,membership.*,customer.created'), [])
  t.strictSame(
    eventsOf(t, 'raw', 'all,payment_intent.*,charge.*,stripe:*,paypal:PAYMENT.CAPTURE.*,authorize-net:*'),
    [],
  )
  t.strictSame(eventsOf(t, 'both', 'payment.*,payment_intent.*,sandbox:invoice.*'), [])
  const events = 'payment_intent.*,payment_method.*,subscription.*,invoice.*,customer.created,stripe:charge.*'
  t.strictSame(warnings(t, list, { EXTERNAL_WEBHOOK_EVENTS: events }), [])
})

t.test('an endpoint that is in the single list twice is told of', async (t) => {
  const twice = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/a,https://EXAMPLE.com/a' }
  t.strictSame(warnings(t, twice), ['EXTERNAL_WEBHOOK_URLS names an endpoint twice, which is told everything twice'])
  const own = endpointSettings(1, 'raw', { URL: 'https://example.com/a' })
  const other = endpointSettings(2, 'canonical', { URL: 'https://example.com/a' })
  t.strictSame(warnings(t, own, other, list), [], 'nodes of other modes are told something else')
})

t.test('a node with an address of which nobody said whether it is enabled is told of', async (t) => {
  const address = { WEBHOOK_2_URL: 'https://example.com/2' }
  const forgotten = ['WEBHOOK_2_URL is not looked at, because WEBHOOK_2_ENABLED is not set']
  t.strictSame(warnings(t, address), forgotten)
  t.strictSame(warnings(t, address, { WEBHOOK_2_ENABLED: '' }), forgotten)
  t.strictSame(warnings(t, address, { WEBHOOK_2_ENABLED: 'false' }), [])
  t.strictSame(warnings(t, address, { EXTERNAL_WEBHOOKS_ENABLED: 'false' }), [])
})
