// A world in which everybody has something, each text of which can be recognised wherever it turns up.

import { createPool } from '@paylog/runtime/postgres/postgres'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import { type AccessHarness, type ApiResponse, type Client, dataOf } from './accessHarness.ts'
import type { Kind, Thing } from './model.ts'
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
  readonly things: Readonly<Record<Kind, readonly Thing[]>>
  /**
   * The e-mail of each payment's payer, by the payment's id: the one thing of a payer that webhooks may tell. A test is of a
   * payment that there is not, and its payer is who asked for it.
   */
  readonly payers: Map<string, string | null>
  /** Up to where one has to read to see all of it. */
  readonly position: string
}

/** What somebody has, rather than everybody who may. */
export type OwnedKind = Exclude<Kind, 'product' | 'log'>

export const pathOf: Readonly<Record<OwnedKind, string>> = {
  payment: '/payments',
  method: '/payment-methods',
  address: '/addresses',
}

const marks = (owner: OwnerName, what: string, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, canary(owner, `${what}.${field}`)]))
const email = (owner: OwnerName, what: string) => `${canary(owner, `${what}.email`)}@example.com`
const place = ['line1', 'line2', 'city', 'state', 'postal_code']

export function paymentBody(owner: OwnerName, guestEmail?: string, methodId?: string): object {
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

/** Makes all of it over HTTP, lets the tokens expire that are to expire, and waits until it can be read. */
export async function createAccessFixture({ identity }: AccessHarness, { ask }: Client): Promise<AccessFixture> {
  const things: Record<Kind, Thing[]> = { payment: [], method: [], address: [], product: [], log: [] }
  const payers = new Map<string, string | null>()
  let position = 0n
  const made = async (answer: ApiResponse): Promise<string> => {
    const { id } = dataOf(answer)
    if (answer.status !== 201 || typeof id !== 'string')
      throw new Error(`${answer.asked}: ${answer.status} ${answer.text}`)
    position = maxOf(position, answer)
    return id
  }
  const pay = async (caller: Caller, payer: string | null, name: string, guestEmail?: string, methodId?: string) => {
    const { owner } = caller
    if (owner === null) throw new Error('a payment of nobody')
    const id = await made(
      await ask(caller, 'POST', '/payments/intents', { body: paymentBody(owner, guestEmail, methodId) }),
    )
    things.payment.push({ name, id, owner })
    payers.set(id, payer)
  }
  const add = async (kind: 'method' | 'address', caller: Caller, name: string, body: object) =>
    things[kind].push({ name, id: await made(await ask(caller, 'POST', pathOf[kind], { body })), owner: caller.owner })
  const remove = async (kind: 'method' | 'address', caller: Caller, body: object) => {
    const id = await made(await ask(caller, 'POST', pathOf[kind], { body }))
    const answer = await ask(caller, 'DELETE', `${pathOf[kind]}/${id}`)
    if (answer.status !== 200) throw new Error(`${answer.asked}: ${answer.status} ${answer.text}`)
    position = maxOf(position, answer)
    things[kind].push({ name: `what ${caller.name} removed`, id, owner: null })
  }

  for (const owner of ['ada', 'grace', 'admin', 'g1', 'g2'] as const) {
    const caller = { ada, grace, admin, g1, g2 }[owner]
    await add('method', caller, `of ${owner}`, methodBody(owner))
    const guestEmail = caller.standing === 'guest' ? emailOf[owner] : undefined
    await pay(caller, emailOf[owner], `of ${owner}`, guestEmail, things.method.at(-1)?.id)
    await add('address', caller, `of ${owner}`, addressBody(owner))
  }
  const product = await made(await ask(admin, 'POST', '/admin/products', { body: productBody() }))
  things.product.push({ name: 'of the catalogue', id: product, owner: 'admin' })
  for (const caller of [ada, g1]) {
    await remove('method', caller, methodBody(caller === ada ? 'ada' : 'g1', 'pm_card_mastercard'))
    await remove('address', caller, addressBody(caller === ada ? 'ada' : 'g1'))
  }
  const withoutCredential = { ...anonymous, owner: 'g1' } as const
  await pay(withoutCredential, emailOf.g1, 'of g1, made without a credential', emailOf.g1.toUpperCase())
  await pay({ ...anonymous, owner: 'anonymous' }, null, 'of nobody at all')
  await pay(ada, emailOf.ada, 'of ada with the e-mail of g1 as contact', emailOf.g1)
  await add('address', ada, 'of ada with the e-mail of g1 as contact', addressBody('ada', { guest_email: emailOf.g1 }))
  await pay(remembered, emailOf.g1, 'of g1, which a token is remembered by', emailOf.g1)
  await pay(rememberedPast, emailOf.g1, 'of g1, which another token is remembered by', emailOf.g1)
  identity.expire('cred.token.remembered', 'expired')
  identity.expire('cred.token.remembered.past', 'expired by its time')
  for (const path of [...Object.values(pathOf), '/admin/products']) {
    const { headers } = await ask(admin, 'GET', path, { headers: { 'x-read-after': String(position) } })
    if (headers['x-read-stale']) throw new Error(`${path} did not come up to ${position}`)
  }
  return { things, payers, position: String(position) }
}

const maxOf = (known: bigint, { headers }: ApiResponse) => {
  const position = BigInt(headers['x-event-position'] ?? 0)
  return position > known ? position : known
}

// What webhook endpoints are told in this world, and whose entry of the log each of it is.

type Delivery = { readonly id: string; readonly node: string; readonly stream: string; readonly revision: number }

/**
 * A payment of each owner is paid, everybody who may tries the endpoints out, and all of it is delivered or given up.
 * @returns every entry that the log must have, with whose it is
 */
export async function createWebhookFixture(
  system: AccessHarness,
  client: Client,
  world: AccessFixture,
): Promise<readonly Thing[]> {
  const owners = new Map<string, OwnerName>()
  for (const { id, owner } of world.things.payment) if (owner !== null) owners.set(`payment-${id}`, owner)
  for (const owner of ['ada', 'grace', 'admin', 'g1', 'g2', 'anonymous'] as const) {
    const event = `evt_${owner}`
    await notify(system, client, event, { ...paymentOf(client, owner), note: canary(owner, 'notified') })
    owners.set(`providerEvent-sandbox:${event}`, owner)
  }
  for (const caller of [ada, grace, admin])
    for (const asked of await testWebhooks(client, world, caller))
      owners.set(`webhookTest-${asked}`, caller.owner ?? 'anonymous')
  const deliveries = await settled(system, world)
  return deliveries.map(({ id, node, stream, revision }) => ({
    id,
    name: `about ${stream}@${revision} to ${node}`,
    // Of what came from a provider it is not known yet whose it is.
    owner: stream.startsWith('providerEvent-') && revision === 0 ? 'anonymous' : (owners.get(stream) ?? null),
  }))
}

/** The object of the notification that the first payment of an owner is paid. */
function paymentOf({ answers }: Client, owner: OwnerName): object {
  const opened = answers.find(
    ({ caller, asked, status }) => caller.owner === owner && asked === 'POST /payments/intents' && status === 201,
  )
  if (opened === undefined) throw new Error(`${owner} has no payment`)
  const { provider_intent_id: id, amount_cents: amount } = dataOf(opened)
  return { id, amount, currency: 'eur', status: 'succeeded', customer: null }
}

async function notify(system: AccessHarness, { ask }: Client, id: string, object: object): Promise<void> {
  const event = { id, type: 'payment_intent.succeeded', data: { object } }
  const { status, text } = await ask(anonymous, 'POST', '/webhooks/sandbox', system.notification(event))
  if (status !== 200) throw new Error(`the receiver: ${status}: ${text}`)
}

/** A canonical event, a generic one, and a provider's own. @returns the ids of what was asked for */
async function testWebhooks({ ask }: Client, { payers }: AccessFixture, caller: Caller): Promise<string[]> {
  const owner = caller.owner === 'ada' || caller.owner === 'grace' ? caller.owner : 'admin'
  const note = canary(owner, 'simulated')
  const test_data = { id: `test-of-${owner}`, amount: 1200, currency: 'EUR', note }
  payers.set(test_data.id, emailOf[owner])
  const answers = [
    await ask(caller, 'POST', '/webhooks/test', { body: { event: 'payment.succeeded', test_data } }),
    await ask(caller, 'POST', '/webhooks/test', { body: { event: 'payment_intent.succeeded', test_data } }),
    await ask(caller, 'POST', '/webhooks/external/simulate', {
      body: { event: 'customer.created', provider: 'stripe', payload: { id: `cus_${owner}`, note } },
    }),
  ]
  return answers.map(requestedId)
}

function requestedId(answer: ApiResponse): string {
  if (answer.status !== 202) throw new Error(`${answer.asked}: ${answer.status} ${answer.text}`)
  return String(dataOf(answer).id)
}

/** Waits until all endpoints were told of all that concerns them, or do not get it any more. */
async function settled(
  { endpoints, databaseUrl }: AccessHarness,
  { payers }: AccessFixture,
): Promise<readonly Delivery[]> {
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'settled', max: 1, log })
  const everybody = [...payers.keys()]
  const isDelivered = (id: string) => endpoints.canonical.received.some(({ body }) => body.includes(id))
  const isPaid = () => endpoints.legacy.received.length >= 12
  const read = async () => {
    const { rows } = await pool.query<Delivery & { isPending: boolean }>(
      `select id, node, source_stream as stream, source_revision::integer as revision, status = 'pending' as "isPending"
       from webhooks.deliveries`,
    )
    return rows
  }
  try {
    await waitFor(
      async () => everybody.every(isDelivered) && isPaid() && (await read()).every(({ isPending }) => !isPending),
      { what: 'the webhooks', timeoutMs: 30_000 },
    )
    return await read()
  } finally {
    await pool.end()
  }
}
