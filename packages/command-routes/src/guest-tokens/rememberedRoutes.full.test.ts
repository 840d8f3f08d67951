import t from 'tap'
import { commandApiHarness } from '../testing/commandApiHarness.ts'

const { app, store, backend, time } = await commandApiHarness(t)
const asGuest = { 'x-guest-token': 'demo-guest-token' }
const intent = {
  total_cents: 500,
  currency: 'EUR',
  guest_data: { email: 'Guest@example.com', name: 'Guest', phone: '+34600000000' },
}
const address = { address_type: 'shipping', line1: 'Calle 1', city: 'Madrid', country: 'ES' }

async function request(method: 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, headers: object = asGuest) {
  const response = await app.inject({ method, url, headers: { ...headers }, ...(payload && { payload }) })
  const { data, error } = response.json()
  return { status: response.statusCode, code: error?.code, id: data?.id, data }
}
async function recordedTokens(): Promise<number> {
  let count = 0
  for await (const _ of store.readLog({ prefixes: ['guestToken-'] })) count++
  return count
}
const expire = () => backend.breakWith({ status: 401, body: '{"success":false}' })

const startMs = Date.parse('2030-01-01T00:00:00.000Z')
time.now = () => new Date(startMs)
const added = [await request('POST', '/addresses', address), await request('POST', '/addresses', address)]
const methods = [
  await request('POST', '/payment-methods', { payment_method_token: 'pm_card_visa' }),
  await request('POST', '/payment-methods', { payment_method_token: 'pm_card_amex' }),
]
const ids = { addresses: added.map(({ id }) => id), 'payment-methods': methods.map(({ id }) => id) }

t.test('a guest token is recorded only when a payment is created [5-history-written]', async (t) => {
  t.same(
    [...added, ...methods].map(({ status }) => status),
    [201, 201, 201, 201],
  )
  for (const [path, [id]] of Object.entries(ids))
    t.equal((await request('PUT', `/${path}/${id}`, { alias: 'a' })).status, 200)
  t.equal((await request('POST', '/payments/intents', { ...intent, guest_data: undefined })).status, 403)
  t.equal((await request('POST', '/payments/intents', { ...intent, total_cents: 0 })).status, 400)
  t.equal(
    (
      await request('POST', '/payments/intents', {
        ...intent,
        guest_data: { ...intent.guest_data, email: 'x@example.com' },
      })
    ).status,
    403,
  )
  t.equal((await request('POST', '/payments/intents', intent, { 'x-session-id': 'demo-session' })).status, 201)
  t.equal((await request('POST', '/payments/intents', intent, {})).status, 201)
  t.equal(await recordedTokens(), 0)
  t.equal((await request('POST', '/payments/intents', intent)).status, 201)
  t.equal(await recordedTokens(), 1)
})

t.test('a change with an expired token returns only the id [5-history-response]', async (t) => {
  const make = async (path: string, body: object) => (await request('POST', path, body)).id
  backend.breakWith(undefined)
  const added = [
    `/addresses/${await make('/addresses', address)}`,
    `/payment-methods/${await make('/payment-methods', { payment_method_token: 'pm_card_mastercard' })}`,
  ]
  expire()
  for (const path of added) {
    const id = path.split('/').at(-1)
    for (const change of [{ alias: null }, { alias: 'other' }, { is_default: true }])
      t.strictSame((await request('PUT', path, change)).data, { id }, `${path} ${JSON.stringify(change)}`)
    t.strictSame((await request('DELETE', path)).data, { id, deleted: true })
  }
})

t.test('no guest token is remembered while the identity backend is down [5-history-outage]', async (t) => {
  time.now = () => new Date(startMs)
  const [id] = ids.addresses
  for (const fault of ['drop', { status: 500, body: '' }, { status: 200, body: '{}' }] as const) {
    backend.breakWith(fault)
    t.match(await request('PUT', `/addresses/${id}`, { alias: 'x' }), { status: 503, code: 'identity_unavailable' })
    t.match(await request('DELETE', `/addresses/${id}`), { status: 503, code: 'identity_unavailable' })
  }
  backend.breakWith(undefined)
  t.match(await request('PUT', `/addresses/${id}`, {}), { status: 400 })
})
