import t from 'tap'
import { rawBody, rawName } from './eventMessages.ts'

const occurred_at = '2026-01-02T03:04:05.000Z'
const received = (body: string, native: { readonly provider_id?: string; readonly provider_type?: string } = {}) => ({
  provider_id: 'sandbox',
  provider_event_id: 'evt_1',
  provider_type: 'payment_intent.succeeded',
  generic_type: 'payment_intent.succeeded',
  occurred_at,
  received_at: '2026-01-02T03:04:06.000Z',
  body,
  ...native,
})

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
      const data = received(body, { provider_id, provider_type })
      const name = `${provider_id}:${provider_type}`
      t.equal(rawName(data), name)
      const head = `{"event":"${name}","provider":"${provider_id}","timestamp":"${occurred_at}","data":`
      t.equal(rawBody(data), `${head}${body}}`)
      t.same(JSON.parse(rawBody(data)).data, JSON.parse(body))
    }
  },
)

t.test('a raw body does not contain a byte order mark', async (t) => {
  t.equal(rawBody(received('\ufeff{"a":1.0}')), rawBody(received('{"a":1.0}')))
})

t.test('a notification that is not JSON is sent as a JSON string', async (t) => {
  for (const text of ['a=1&b="2"', '', '{"half":', '\ufeff'])
    t.equal(JSON.parse(rawBody(received(text))).data, text.replace('\ufeff', ''))
})

t.test('a raw body is well-formed JSON without NUL for any notification text', async (t) => {
  for (const text of ['{"a":"\ud800"}', '\ud800', '{"a":"\0"}', '\0{}', '{"\udc00":[]}']) {
    const body = rawBody(received(text))
    t.ok(body.isWellFormed(), JSON.stringify(text))
    t.notOk(body.includes('\0'))
    t.doesNotThrow(() => JSON.parse(body))
  }
})
