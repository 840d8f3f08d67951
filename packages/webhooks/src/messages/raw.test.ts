import t from 'tap'
import { type DataOf, endpointSettings, messagesTo, received } from '../testing/eventFixtures.ts'

/** The body for a raw endpoint. */
const bodyFor = (body: string, more: Partial<DataOf<'ProviderEventReceived'>> = {}) =>
  messagesTo(received({ body, ...more }), endpointSettings(1, 'raw'))[0]?.body ?? ''

/** Bodies that parsing and serialising would change. */
const events = [
  [
    'stripe',
    'customer.subscription.updated',
    '{\n  "id": "evt_1",\n  "type": "customer.subscription.updated",\n  "data": {\n    "object": {"id": "sub_1",' +
      ' "note": "\\u00e9 \\ud83d\\ude00 é"},\n    "previous_attributes": {"status": "trialing"}\n  }\n}\n',
  ],
  [
    'paypal',
    'PAYMENT.CAPTURE.COMPLETED',
    '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","resource":{"amount":{"value":"100.00"},' +
      '"links":[{"href":"https:\\/\\/api.example.com\\/v2"}],"a":1,"a":2}}',
  ],
  [
    'authorize-net',
    'net.authorize.payment.authcapture.created',
    '{"notificationId":"n1","eventDate":"2026-01-02T03:04:05.7722007Z","payload":{"authAmount":300.00,"fee":0.0,' +
      '"big":12345678901234567890,"tiny":1E-7,"__proto__":{"id":"60022194830"}}}',
  ],
] as const

t.test(
  "a raw body contains each provider's event byte for byte, with the provider's name [6.2-raw-names]",
  async (t) => {
    for (const [provider_id, provider_type, body] of events) {
      const head = `{"event":"${provider_id}:${provider_type}","provider":"${provider_id}"`
      const text = `${head},"timestamp":"2026-01-02T03:04:05.000Z","data":${body}}`
      t.equal(bodyFor(body, { provider_id, provider_type }), text)
    }
  },
)

t.test('a raw body does not contain a byte order mark', async (t) => {
  t.equal(bodyFor('\ufeff{"a":1.0}'), bodyFor('{"a":1.0}'))
})

t.test('a notification that is not JSON is sent as a JSON string', async (t) => {
  for (const text of ['a=1&b="2"', '', '{"half":', '\ufeff'])
    t.equal(JSON.parse(bodyFor(text)).data, text.replace('\ufeff', ''))
})

t.test('a raw body is well-formed JSON without NUL for any notification text', async (t) => {
  for (const text of ['{"a":"\ud800"}', '\ud800', '{"a":"\0"}', '\0{}', '{"\udc00":[]}']) {
    const body = bodyFor(text)
    t.ok(body.isWellFormed(), JSON.stringify(text))
    t.notOk(body.includes('\0'))
    t.doesNotThrow(() => JSON.parse(body))
  }
})
