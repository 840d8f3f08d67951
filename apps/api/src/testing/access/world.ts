// A world in which everybody has something, each text of which can be recognised wherever it turns up.
import type { AccessHarness } from './accessSystem.ts'
import { type ApiResponse, type Client, dataOf } from './client.ts'
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
