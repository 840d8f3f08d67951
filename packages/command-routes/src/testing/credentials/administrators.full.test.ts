import { loadConfig } from '@paylog/config/environment'
import { createSandboxIdentity } from '@paylog/identity/sandboxIdentity'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { listen } from '@paylog/testing/fakeServer'
import t from 'tap'
import { Type } from 'typebox'
import { commandVariables } from '../../config.ts'
import { callersHarness } from '../callersHarness.ts'
import { commandApiHarness } from '../commandApiHarness.ts'

t.test('only the exact user types in ADMIN_USER_TYPES are administrators [5-administrators]', async (t) => {
  const userTypes = [
    'admin',
    'Admin',
    'admin ',
    'administrator',
    'staff',
    'user',
    '',
    'constructor',
    'a',
    'admin,staff',
  ]
  const backend = createSandboxIdentity({
    sessions: userTypes.map((userType) => ({
      session_id: `as-${userType.replaceAll(' ', '_')}`,
      user: { id: 'u1', email: 'u@example.com', name: 'U', userType },
      expires_at: null,
    })),
    guestTokens: [{ token: 'admin', email: 'admin@example.com', name: 'admin', expires_at: null }],
    now: Date.now,
  })
  const authUrl = await listen(t, backend)
  const required = {
    EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
    DATABASE_URL: 'postgres://127.0.0.1/none',
    PII_MASTER_KEY: testMasterKey,
    AUTH_URL: authUrl,
  }
  const cases: readonly (readonly [variable: string, administrators: readonly string[]])[] = [
    ['', ['admin']],
    ['admin', ['admin']],
    [' staff , admin,', ['admin', 'staff']],
    ['root', []],
  ]
  for (const [ADMIN_USER_TYPES, administrators] of cases) {
    const config = loadConfig(Type.Object(commandVariables), { ...required, ADMIN_USER_TYPES })
    const { send } = await callersHarness(t, { authUrl, adminUserTypes: config.ADMIN_USER_TYPES })
    const found: string[] = []
    for (const userType of userTypes) {
      const headers = ['X-Session-ID', `as-${userType.replaceAll(' ', '_')}`]
      const { user_type, is_administrator } = JSON.parse((await send({ path: '/known', headers })).body)
      t.equal(user_type, userType)
      if (is_administrator) found.push(userType)
    }
    t.same(found, administrators, `ADMIN_USER_TYPES=${ADMIN_USER_TYPES}`)
    const guest = JSON.parse((await send({ path: '/known', headers: ['X-Guest-Token', 'admin'] })).body)
    t.match([guest.kind, guest.is_administrator], ['guest', undefined])
  }
})

t.test("an administrator cannot change other owners' resources", async (t) => {
  const { app, store } = await commandApiHarness(t)
  const as = {
    ada: { 'x-session-id': 'demo-session' },
    guest: { 'x-guest-token': 'demo-guest-token' },
    grace: { 'x-session-id': 'demo-session-2' },
    admin: { 'x-session-id': 'demo-admin-session' },
  }
  const api = async (method: 'POST' | 'PUT' | 'DELETE', url: string, headers: Record<string, string>, payload = {}) => {
    const response = await app.inject({ method, url, headers, payload })
    const { request_id: _, ...error } = response.json().error ?? {}
    return { status: response.statusCode, error, id: String(response.json().data?.id) }
  }
  const address = { address_type: 'billing', line1: 'Calle 1', city: 'Madrid', country: 'ES' }
  const cards = { ada: 'pm_card_visa', guest: 'pm_card_mastercard' }
  for (const owner of ['ada', 'guest'] as const) {
    const resources = {
      addresses: await api('POST', '/addresses', as[owner], address),
      'payment-methods': await api('POST', '/payment-methods', as[owner], { payment_method_token: cards[owner] }),
    }
    t.same([resources.addresses.status, resources['payment-methods'].status], [201, 201])
    const before = (await store.head())?.commit
    for (const [path, { id }] of Object.entries(resources)) {
      const missing = await api('PUT', `/${path}/${crypto.randomUUID()}`, as.admin, { alias: 'x' })
      t.equal(missing.status, 404)
      for (const caller of [as.admin, as.grace])
        for (const [method, body] of [
          ['PUT', { alias: 'x' }],
          ['PUT', { is_default: true }],
          ['DELETE', {}],
        ] as const)
          t.same(await api(method, `/${path}/${id}`, caller, body), missing, `${method} /${path} of ${owner}`)
    }
    const payment = { total_cents: 100, currency: 'EUR', payment_method_id: resources['payment-methods'].id }
    const method = { payment_method_token: 'pm_card_amex', billing_address_id: resources.addresses.id }
    for (const caller of [as.admin, as.grace]) {
      t.match(await api('POST', '/payments/intents', caller, payment), {
        status: 422,
        error: { code: 'reference_not_found' },
      })
      t.match(await api('POST', '/payment-methods', caller, method), {
        status: 422,
        error: { code: 'reference_not_found' },
      })
    }
    t.equal((await store.head())?.commit, before, 'nothing is recorded')
  }
})
