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
  `${variable} has a pattern (number ${place}) that matches no event of a ${mode} endpoint`
const list = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/a,https://example.com/b' }

t.test('a pattern that can never match is a warning that names its position', async (t) => {
  for (const pattern of [
    'payments.*',
    'payment.succeded',
    'payment.refund',
    'payment_intent.*',
    'stripe:*',
    'sandbox:payment.created',
  ])
    t.strictSame(
      eventsOf(t, 'canonical', `payment.*,${pattern}`),
      [unmatchedWarning('WEBHOOK_1_EVENTS', 'canonical', 2)],
      pattern,
    )
  for (const mode of ['raw', 'both'])
    t.strictSame(eventsOf(t, mode, 'strip:*,all'), [unmatchedWarning('WEBHOOK_1_EVENTS', mode, 1)], mode)
  for (const pattern of ['payment.*', 'payment.refunded', 'payments.*', 'charge.succeeded', 'strip:charge.*'])
    t.strictSame(
      warnings(t, list, { EXTERNAL_WEBHOOK_EVENTS: `customer.*,invoice.payment_failed,${pattern}` }),
      [unmatchedWarning('EXTERNAL_WEBHOOK_EVENTS', 'legacy', 3)],
      pattern,
    )
})

t.test('patterns that can match cause no warning', async (t) => {
  t.strictSame(
    eventsOf(
      t,
      'canonical',
      'all,payment.*,payment.refunded,payment.disputed,payment.attention,subscription.cancelled,membership.*,customer.created',
    ),
    [],
  )
  t.strictSame(
    eventsOf(t, 'raw', 'all,payment_intent.*,charge.*,stripe:*,paypal:PAYMENT.CAPTURE.*,authorize-net:*'),
    [],
  )
  t.strictSame(eventsOf(t, 'both', 'payment.*,payment_intent.*,sandbox:invoice.*'), [])
  const events = 'payment_intent.*,payment_method.*,subscription.*,invoice.*,customer.created,stripe:charge.*'
  t.strictSame(warnings(t, list, { EXTERNAL_WEBHOOK_EVENTS: events }), [])
})

t.test('a URL that is in the legacy list twice is a warning', async (t) => {
  const twice = { EXTERNAL_WEBHOOK_URLS: 'https://example.com/a,https://EXAMPLE.com/a' }
  t.strictSame(warnings(t, twice), ['EXTERNAL_WEBHOOK_URLS lists a URL twice, which then receives every webhook twice'])
  const own = endpointSettings(1, 'raw', { URL: 'https://example.com/a' })
  const other = endpointSettings(2, 'canonical', { URL: 'https://example.com/a' })
  t.strictSame(warnings(t, own, other, list), [], 'endpoints of other modes receive other messages')
})

t.test('an endpoint with a URL but no ENABLED variable is a warning', async (t) => {
  const address = { WEBHOOK_2_URL: 'https://example.com/2' }
  const ignored = ['WEBHOOK_2_URL is ignored because WEBHOOK_2_ENABLED is not set']
  t.strictSame(warnings(t, address), ignored)
  t.strictSame(warnings(t, address, { WEBHOOK_2_ENABLED: '' }), ignored)
  t.strictSame(warnings(t, address, { WEBHOOK_2_ENABLED: 'false' }), [])
  t.strictSame(warnings(t, address, { EXTERNAL_WEBHOOKS_ENABLED: 'false' }), [])
})
