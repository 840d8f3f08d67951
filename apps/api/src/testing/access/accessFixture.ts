// Creates data of every owner. Each text can be recognised wherever it appears.

import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import { type AccessHarness, type ApiResponse, type Client, dataOf } from './accessHarness.ts'
import type { Kind, Resource } from './model.ts'
import {
  ada,
  admin,
  anonymous,
  type Caller,
  canary,
  emailOf,
  g1,
  g2,
  grace,
  type OwnerName,
  remembered,
  rememberedPast,
} from './people.ts'

export type AccessFixture = {
  readonly resources: Readonly<Record<Kind, readonly Resource[]>>
  /**
   * The payer's e-mail by payment id. Webhooks may contain no other data of the payer. A webhook test names a payment
   * that does not exist; its payer is the caller.
   */
  readonly payers: Map<string, string | null>
  /** Reads must reach this position to include all of it. */
  readonly position: string
}

/** Resources that belong to one owner. */
export type OwnedKind = Exclude<Kind, 'product' | 'log'>

export const pathOf: Readonly<Record<OwnedKind, string>> = {
  payment: '/payments',
  method: '/payment-methods',
  address: '/addresses',
}

/** What several owners may see has the mark of `shared`. */
type Mark = OwnerName | 'shared'

const marks = (owner: Mark, what: string, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, canary(owner, `${what}.${field}`)]))
const email = (owner: OwnerName, what: string) => `${canary(owner, `${what}.email`)}@example.com`
const place = ['line1', 'line2', 'city', 'state', 'postal_code']

export function paymentBody(owner: Mark, guestEmail?: string, methodId?: string): object {
  return {
    total_cents: 1200,
    currency: 'EUR',
    provider_id: 'sandbox',
    ...marks(owner, 'payment', ['concept', 'description', 'reference_code', 'category', 'tags']),
    metadata: {
      note: canary(owner, 'payment.note'),
      [canary(owner, 'payment.key')]: { deep: canary(owner, 'payment.deep') },
    },
    ...(methodId !== undefined && { payment_method_id: methodId }),
    ...(guestEmail !== undefined && {
      guest_data: { email: guestEmail, ...marks(owner, 'payment', ['name', 'phone']) },
    }),
  }
}

export function addressBody(owner: OwnerName, more: object = {}): object {
  return {
    address_type: 'billing',
    country: 'DE',
    is_business: true,
    email: email(owner, 'address'),
    ...marks(owner, 'address', [...place, 'name', 'organization_id', 'business_name', 'tax_id', 'tax_id_type']),
    ...marks(owner, 'address', ['phone', 'alias', 'guest_name']),
    ...more,
  }
}

export function methodBody(owner: OwnerName, token = 'pm_card_visa', more: object = {}): object {
  return {
    payment_method_token: token,
    provider_id: 'sandbox',
    type: canary(owner, 'method.type'),
    wallet_type: canary(owner, 'method.wallet'),
    ...marks(owner, 'method', ['customer_id', 'organization_id', 'alias']),
    billing_details: {
      email: email(owner, 'method'),
      ...marks(owner, 'method', ['name', 'phone']),
      address: { ...marks(owner, 'method', place), country: 'DE' },
    },
    ...more,
  }
}

function productBody(): object {
  return {
    product_type: 'digital',
    currency: 'EUR',
    total_cents: 1200,
    ...marks('admin', 'product', ['name', 'description', 'category_id']),
  }
}

/** Creates all data over HTTP, lets tokens expire where needed, and waits until all of it can be read. */
export async function createAccessFixture({ identity }: AccessHarness, { send }: Client): Promise<AccessFixture> {
  const resources: Record<Kind, Resource[]> = { payment: [], method: [], address: [], product: [], log: [] }
  const payers = new Map<string, string | null>()
  let position = 0n
  const made = async (response: ApiResponse): Promise<string> => {
    const { id } = dataOf(response)
    if (response.status !== 201 || typeof id !== 'string')
      throw new Error(`${response.request}: ${response.status} ${response.text}`)
    position = maxOf(position, response)
    return id
  }
  const pay = async (caller: Caller, payer: string | null, name: string, guestEmail?: string, methodId?: string) => {
    const { owner } = caller
    if (owner === null) throw new Error('a payment without an owner')
    const id = await made(
      await send(caller, 'POST', '/payments/intents', { body: paymentBody(owner, guestEmail, methodId) }),
    )
    resources.payment.push({ name, id, owner })
    payers.set(id, payer)
  }
  const add = async (kind: 'method' | 'address', caller: Caller, name: string, body: object) =>
    resources[kind].push({
      name,
      id: await made(await send(caller, 'POST', pathOf[kind], { body })),
      owner: caller.owner,
    })
  const remove = async (kind: 'method' | 'address', caller: Caller, body: object) => {
    const id = await made(await send(caller, 'POST', pathOf[kind], { body }))
    const response = await send(caller, 'DELETE', `${pathOf[kind]}/${id}`)
    if (response.status !== 200) throw new Error(`${response.request}: ${response.status} ${response.text}`)
    position = maxOf(position, response)
    resources[kind].push({ name: `removed by ${caller.name}`, id, owner: null })
  }

  for (const owner of ['ada', 'grace', 'admin', 'g1', 'g2'] as const) {
    const caller = { ada, grace, admin, g1, g2 }[owner]
    await add('method', caller, `of ${owner}`, methodBody(owner))
    const guestEmail = caller.standing === 'guest' ? emailOf[owner] : undefined
    await pay(caller, emailOf[owner], `of ${owner}`, guestEmail, resources.method.at(-1)?.id)
    await add('address', caller, `of ${owner}`, addressBody(owner))
  }
  const product = await made(await send(admin, 'POST', '/admin/products', { body: productBody() }))
  resources.product.push({ name: 'of the catalogue', id: product, owner: 'admin' })
  for (const caller of [ada, g1]) {
    await remove('method', caller, methodBody(caller === ada ? 'ada' : 'g1', 'pm_card_mastercard'))
    await remove('address', caller, addressBody(caller === ada ? 'ada' : 'g1'))
  }
  const withoutCredential = { ...anonymous, owner: 'g1' } as const
  await pay(withoutCredential, emailOf.g1, 'of g1, made without a credential', emailOf.g1.toUpperCase())
  await pay({ ...anonymous, owner: 'anonymous' }, null, 'without an owner')
  const contact = { name: 'of ada with the e-mail of g1 as contact', owner: 'ada', reader: 'g1' } as const
  const shared = await made(await send(ada, 'POST', '/payments/intents', { body: paymentBody('shared', emailOf.g1) }))
  resources.payment.push({ ...contact, id: shared })
  payers.set(shared, emailOf.ada)
  await add('address', ada, 'of ada with the e-mail of g1 as contact', addressBody('ada', { guest_email: emailOf.g1 }))
  await pay(remembered, emailOf.g1, 'of g1, so that an expired token is remembered', emailOf.g1)
  await pay(rememberedPast, emailOf.g1, 'of g1, so that another expired token is remembered', emailOf.g1)
  identity.expire('cred.token.remembered', 'expired')
  identity.expire('cred.token.remembered.past', 'expired by its time')
  for (const path of [...Object.values(pathOf), '/admin/products']) {
    const { headers } = await send(admin, 'GET', path, { headers: { 'x-read-after': String(position) } })
    if (headers['x-read-stale']) throw new Error(`${path} did not come up to ${position}`)
  }
  return { resources, payers, position: String(position) }
}

const maxOf = (known: bigint, { headers }: ApiResponse) => {
  const position = BigInt(headers['x-event-position'] ?? 0)
  return position > known ? position : known
}

/** See the environment of the harness. */
const chatNode = '5'

type Delivery = {
  readonly id: string
  readonly node: string
  readonly stream: string
  readonly revision: number
  readonly mode: string
}

/**
 * Settles one payment of each owner, sends webhook tests as every allowed caller, and waits until each delivery has
 * ended.
 * @returns every expected entry of the webhook log, with its owner
 */
export async function createWebhookFixture(
  system: AccessHarness,
  client: Client,
  fixture: AccessFixture,
): Promise<readonly Resource[]> {
  const owners = new Map<string, OwnerName>()
  for (const { id, owner } of fixture.resources.payment) if (owner !== null) owners.set(`payment-${id}`, owner)
  for (const owner of ['ada', 'grace', 'admin', 'g1', 'g2', 'anonymous'] as const) {
    const event = `evt_${owner}`
    await notify(system, client, event, { ...paymentOf(client, owner), note: canary(owner, 'notified') })
  }
  for (const caller of [ada, grace, admin])
    for (const id of await testWebhooks(client, fixture, caller))
      owners.set(`webhookTest-${id}`, caller.owner ?? 'anonymous')
  const deliveries = await settled(system, fixture)
  return deliveries.map(({ id, node, stream, revision, mode }) => ({
    id,
    name: `about ${stream}@${revision} to ${node}`,
    // The provider's text belongs to no owner, the chat's notice about the payment does.
    owner:
      stream.startsWith('payment-') && mode === 'raw' && node !== chatNode ? 'anonymous' : (owners.get(stream) ?? null),
  }))
}

/** The object of the notification that reports the first payment of an owner as paid. */
function paymentOf({ responses }: Client, owner: OwnerName): object {
  const opened = responses.find(
    ({ caller, request, status }) => caller.owner === owner && request === 'POST /payments/intents' && status === 201,
  )
  if (opened === undefined) throw new Error(`${owner} has no payment`)
  const { provider_intent_id: id, amount_cents: amount } = dataOf(opened)
  return { id, amount, currency: 'eur', status: 'succeeded', customer: null }
}

async function notify(system: AccessHarness, { send }: Client, id: string, object: object): Promise<void> {
  const event = { id, type: 'payment_intent.succeeded', data: { object } }
  const { status, text } = await send(anonymous, 'POST', '/webhooks/sandbox', system.notification(event))
  if (status !== 200) throw new Error(`the receiver: ${status}: ${text}`)
}

/** Sends a canonical, a generic and a raw test webhook. @returns the ids of the tests */
async function testWebhooks({ send }: Client, { payers }: AccessFixture, caller: Caller): Promise<string[]> {
  const owner = caller.owner === 'ada' || caller.owner === 'grace' ? caller.owner : 'admin'
  const note = canary(owner, 'simulated')
  const test_data = { id: `test-of-${owner}`, amount: 1200, currency: 'EUR', note }
  payers.set(test_data.id, emailOf[owner])
  const responses = [
    await send(caller, 'POST', '/webhooks/test', { body: { event: 'payment.succeeded', test_data } }),
    await send(caller, 'POST', '/webhooks/test', { body: { event: 'payment_intent.succeeded', test_data } }),
    await send(caller, 'POST', '/webhooks/external/simulate', {
      body: { event: 'customer.created', provider: 'stripe', payload: { id: `cus_${owner}`, note } },
    }),
  ]
  return responses.map(requestedId)
}

function requestedId(response: ApiResponse): string {
  if (response.status !== 202) throw new Error(`${response.request}: ${response.status} ${response.text}`)
  return String(dataOf(response).id)
}

/** Waits until every delivery has succeeded or failed for good. */
async function settled(
  { endpoints, databaseUrl }: AccessHarness,
  { payers }: AccessFixture,
): Promise<readonly Delivery[]> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'settled', max: 1, log })
  const paymentIds = [...payers.keys()]
  const isDelivered = (id: string) => endpoints.canonical.received.some(({ body }) => body.includes(id))
  const isPaid = () => endpoints.legacy.received.length >= 12
  const read = async () => {
    const { rows } = await pool.query<Delivery & { isPending: boolean }>(
      `select id, node, source_stream as stream, source_revision::integer as revision, mode, status = 'pending' as "isPending"
       from webhooks.all_deliveries`,
    )
    return rows
  }
  try {
    await waitFor(
      async () => paymentIds.every(isDelivered) && isPaid() && (await read()).every(({ isPending }) => !isPending),
      { what: 'the webhooks', timeoutMs: 30_000 },
    )
    return await read()
  } finally {
    await pool.end()
  }
}
