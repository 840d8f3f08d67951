// A little of everything that Paylog records, and everything that its GETs show of it.
import { createPaylogClient, type Schemas } from '@paylog/client/client'
import { PaylogError } from '@paylog/client/errors'
import { disputePayment, endRefund, settlePayment } from '@paylog/commands/payments/sandboxReports'
import type { EventStore } from '@paylog/event-store/eventStore'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { waitFor } from '@paylog/testing/waitFor'

type System = { readonly baseUrl: string; readonly store: EventStore; readonly secret: string }

/** Variables of a system that writes or reads a recording: known keys, and nothing ends by itself. */
export const releaseSettings = {
  PII_MASTER_KEY: testMasterKey,
  AUDIT_SIGNING_KEY: 'PRIVATE+KEY+releases.paylog.example/log+1d0f0d00+AYW9MGChRB62BHueaEHTLWL2xdNTwURBzLBtofjhSGPo',
  AUDIT_CHECKPOINT_INTERVAL: '1s',
  PAYMENT_EXPIRES_AFTER: '0',
  RETENTION_CLIENT_SECRETS: '3650d',
  RETENTION_PROVIDER_BODIES: '0',
  WEBHOOK_LOG_RETENTION: '0',
}

const user = { session: 'demo-session' }
const guest = { guest_token: 'demo-guest-token' }
const administrator = { session: 'demo-admin-session' }
const reason = { 'x-reason': 'Recorded for the release' }

/** Users, guests and administrators use the API, and the sandbox reports what payers and banks do. */
export async function writeHistory(system: System): Promise<void> {
  const method = await writeMethodsAndAddresses(system.baseUrl)
  await writePayments(system, method)
  await writeCatalogue(system.baseUrl)
  await eraseGuest(system.baseUrl)
  await everythingFollowed(system.baseUrl)
}

async function writeMethodsAndAddresses(baseUrl: string): Promise<string> {
  const ada = createPaylogClient({ baseUrl, credential: user })
  const save = async (payment_method_token: string, is_default: boolean) =>
    (await ada.createPaymentMethod({ body: { payment_method_token, provider_id: 'sandbox', is_default } })).body.data.id
  const kept = await save('pm_card_visa', true)
  await ada.updatePaymentMethod({ path: { id: kept }, body: { alias: 'My card' } })
  await ada.deletePaymentMethod({ path: { id: await save('pm_card_amex', false) } })
  const address = { address_type: 'billing', line1: '1 Sample Street', city: 'Madrid', country: 'ES' } as const
  const { body } = await ada.createAddress({ body: { ...address, is_default: true } })
  await ada.updateAddress({ path: { id: body.data.id }, body: { line2: 'Second floor' } })
  const other = await ada.createAddress({ body: { ...address, line1: '2 Sample Street' } })
  await ada.deleteAddress({ path: { id: other.body.data.id } })
  await ada.updateAddress({ path: { id: body.data.id }, body: { is_default: false } })
  await ada.createSetupIntent({ body: { provider_id: 'sandbox' } })
  return kept
}

async function writePayments(system: System, payment_method_id: string): Promise<void> {
  const { baseUrl, store, secret } = system
  const admin = createPaylogClient({ baseUrl, credential: administrator })
  const pay = async (more: Partial<Schemas['NewPayment']> = {}, credential: typeof user | typeof guest = user) => {
    const body = {
      total_cents: 2599,
      currency: 'EUR',
      provider_id: 'sandbox',
      concept: 'Two tickets',
      ...more,
    } as const
    return (await createPaylogClient({ baseUrl, credential }).createPaymentIntent({ body })).body.data.id
  }
  const report = (paymentId: string) => ({ store, baseUrl, secret, paymentId })
  const settle = (id: string, outcome: Parameters<typeof settlePayment>[0]['outcome']) =>
    settlePayment({ ...report(id), outcome })

  await pay()
  for (const outcome of ['succeeded', 'failed', 'canceled', 'processing'] as const) await settle(await pay(), outcome)
  await pay({ payment_method_id, metadata: { order: 'A-1' }, description: 'With a saved card' })
  await pay({ payment_method_id: 'pm_card_declined' }).catch(expectDeclined)
  const canceled = await pay()
  await admin.cancelPayment({ path: { id: canceled }, header: reason })
  await settle(canceled, 'succeeded')

  const captured = await pay({ capture_method: 'manual' })
  await settle(captured, 'authorized')
  await admin.capturePayment({ path: { id: captured }, body: { amount_cents: 2000 }, header: reason })

  const refunded = await pay({ guest_data: { email: 'guest@example.com', name: 'Guest Example' } }, guest)
  await settle(refunded, 'succeeded')
  await admin.createRefund({ path: { id: refunded }, body: { amount_cents: 500 }, header: reason })
  const failing = await pay({ payment_method_id: 'pm_card_refundFails' })
  await settle(failing, 'succeeded')
  await admin.createRefund({ path: { id: failing }, body: { amount_cents: 700 }, header: reason })
  await endRefund({ ...report(failing), outcome: 'failed' })

  const disputed = await pay()
  await settle(disputed, 'succeeded')
  for (const outcome of ['open', 'lost'] as const) await disputePayment({ ...report(disputed), outcome })
}

function expectDeclined(error: unknown): void {
  if (!(error instanceof PaylogError && error.code === 'payment_declined')) throw error
}

async function writeCatalogue(baseUrl: string): Promise<void> {
  const admin = createPaylogClient({ baseUrl, credential: administrator })
  const product = { name: 'Sample product', product_type: 'physical', currency: 'EUR', total_cents: 1200 } as const
  const { body } = await admin.createProduct({ body: product })
  await admin.updateProduct({ path: { id: body.data.id }, body: { description: 'Changed' } })
  await admin.syncProducts({ body: { product_ids: [body.data.id], provider_id: 'sandbox' } })
  for (const is_active of [false, true]) await admin.updateProduct({ path: { id: body.data.id }, body: { is_active } })
  await admin.testWebhooks({ body: { event: 'payment.succeeded' } })
  await admin.simulateWebhook({ body: { provider: 'stripe', event: 'customer.created' } })
}

async function eraseGuest(baseUrl: string): Promise<void> {
  const guest_email = 'erased@example.com'
  await createPaylogClient({ baseUrl }).createPaymentIntent({
    body: {
      total_cents: 900,
      currency: 'USD',
      provider_id: 'sandbox',
      guest_data: { email: guest_email, name: 'Erased' },
    },
  })
  const admin = createPaylogClient({ baseUrl, credential: administrator })
  const { body } = await admin.createErasure({ body: { guest_email }, header: reason })
  const path = { id: body.data.id }
  await waitFor(async () => (await admin.getJob({ path })).body.data.status === 'succeeded', { what: 'the erasure' })
}

/** Waits until the read models have every event and the endpoints every webhook. */
export async function everythingFollowed(baseUrl: string): Promise<void> {
  const admin = createPaylogClient({ baseUrl, credential: administrator })
  const isDone = async () => {
    const [{ body: projections }, { body: endpoints }] = await Promise.all([
      admin.listProjections(),
      admin.listWebhookEndpoints(),
    ])
    return (
      projections.data.every(({ lag }) => lag?.events === 0) && endpoints.data.every(({ pending }) => pending === 0)
    )
  }
  await waitFor(isDone, { what: 'read models and webhooks' })
}

/** A GET and its body. */
export type RecordedGet = { readonly as: keyof typeof headers; readonly path: string; readonly body: unknown }

const headers = {
  user: { 'x-session-id': user.session },
  guest: { authorization: `Token ${guest.guest_token}` },
  administrator: { 'x-session-id': administrator.session },
}

/** @returns the parsed body, or its text for lines */
export async function get(baseUrl: string, { as, path }: Omit<RecordedGet, 'body'>): Promise<unknown> {
  const response = await fetch(`${baseUrl}${path}`, { headers: headers[as] })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${as} GET ${path}: ${response.status} ${body}`)
  return response.headers.get('content-type')?.includes('ndjson') ? body : JSON.parse(body)
}

/** Every list, and every payment with its history and recorded events. */
export async function readEverything(baseUrl: string): Promise<readonly RecordedGet[]> {
  const admin = createPaylogClient({ baseUrl, credential: administrator })
  const { body } = await admin.listAnyPayments({ query: { limit: 100 } })
  const ofPayments = body.data.flatMap(({ id }) =>
    ['', '/history', '/events'].map((part) => ({ as: 'administrator' as const, path: `/admin/payments/${id}${part}` })),
  )
  const lists = ['/payments', '/payment-methods', '/addresses']
  const adminLists = ['payments', 'disputes', 'products', 'webhook-deliveries', 'privacy/erasures', 'events']
  const gets = [
    ...lists.flatMap((path) => (['user', 'guest'] as const).map((as) => ({ as, path }))),
    ...adminLists.map((name) => ({ as: 'administrator' as const, path: `/admin/${name}` })),
    { as: 'administrator' as const, path: '/webhooks/logs' },
    ...ofPayments,
  ]
  return await Promise.all(gets.map(async (each) => ({ ...each, body: await get(baseUrl, each) })))
}
