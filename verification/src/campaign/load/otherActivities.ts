// What clients do beside payments: addresses, saved methods, products, lists, and attempts to reach what belongs to others.
import type { Action, Operation, Owner } from '../judge/observations.ts'
import type { Client } from './client.ts'
import { canaryOf } from './owners.ts'
import type { Activity } from './payments.ts'
import { keyedShare, otherActivity } from './settings.ts'

const members = ['user 1', 'user 2', 'guest'] as const
const lists = ['/payments?limit=50', '/addresses', '/payment-methods', '/webhooks/logs?limit=20'] as const

/** The life of something that is added, changed and deleted. */
type Kind = {
  readonly actions: { readonly add: Action; readonly change: Action; readonly delete: Action | null }
  readonly path: string
  readonly content: (name: string) => object
  readonly changed: (name: string) => object
}

const address: Kind = {
  actions: { add: 'add address', change: 'change address', delete: 'delete address' },
  path: '/addresses',
  content: (name) => ({ address_type: 'billing', name, line1: '1 Sample Street', city: 'Berlin', country: 'DE' }),
  changed: (name) => ({ line2: `${name} changed` }),
}
const method: Kind = {
  actions: { add: 'save method', change: 'change method', delete: 'delete method' },
  path: '/payment-methods',
  content: (name) => ({ payment_method_token: 'pm_card_visa', provider_id: 'stripe', alias: name }),
  changed: (name) => ({ alias: `${name} changed` }),
}
const product: Kind = {
  actions: { add: 'add product', change: 'change product', delete: null },
  path: '/admin/products',
  content: (name) => ({ name, product_type: 'digital', currency: 'EUR', total_cents: 1_900 }),
  changed: (name) => ({ description: `${name} changed` }),
}

/** @returns a function that does one thing after the other for one owner */
export function createOtherActivities({ client, random, opened }: Activity): () => Promise<void> {
  let count = 0

  async function live(owner: Owner, kind: Kind): Promise<void> {
    const { actions, path, content, changed } = kind
    const name = `${canaryOf(owner)}-${++count}`
    const step = async (action: Action, subject: string | null, request: Parameters<Client['perform']>[1]) => {
      await opened()
      const key = subject === null && random.isIn(keyedShare) ? `key-${name}` : null
      const about = { action, owner, key, subject, provider: null, amount_cents: null, currency: null }
      return await client.perform(client.operation({ ...about, name: `${action} ${name}` }), request)
    }
    const shows = async (itemPath: string, position: string | null, expected: string | null) => {
      if (position !== null) await client.readAfter(owner, itemPath, { position, expected })
    }
    const added = await step(actions.add, null, { method: 'POST', path, body: content(name) })
    if (!added) return
    const itemPath = `${path}/${added.data.id}`
    await shows(itemPath, added.position, name)
    const written = await step(actions.change, added.data.id, { method: 'PUT', path: itemPath, body: changed(name) })
    if (!written) return
    await shows(itemPath, written.position, `${name} changed`)
    if (actions.delete === null || random.isIn(0.5)) return
    const deleted = await step(actions.delete, added.data.id, { method: 'DELETE', path: itemPath })
    if (deleted) await shows(itemPath, deleted.position, null)
  }

  /** Reads, changes or cancels what another owner has got. */
  async function intrude(): Promise<void> {
    const owner = random.pick(members)
    const { operations } = client
    const other = operations[random.between(0, operations.length - 1)]
    const path = other && pathOf(other)
    if (path === undefined || other?.owner === owner) return
    const isPayment = path.startsWith('/payments/')
    await client.intrude(owner, { method: 'GET', path })
    if (isPayment && random.isIn(0.3)) await client.intrude(owner, { method: 'POST', path: `${path}/cancel`, body: {} })
    if (isPayment && random.isIn(0.3))
      await client.intrude(owner, { method: 'POST', path: `${path}/refunds`, body: { amount_cents: 1 } })
    if (!isPayment && random.isIn(0.3)) await client.intrude(owner, { method: 'DELETE', path })
  }

  return async () => {
    const activity = random.weighted(otherActivity)
    const owner = random.pick(members)
    if (activity === 'address') return await live(owner, address)
    if (activity === 'method') return await live(random.pick(['user 1', 'user 2']), method)
    if (activity === 'product') return await live('administrator', product)
    if (activity === 'list') return void (await client.read(owner, random.pick(lists)))
    await intrude()
  }
}

/** The path of what an operation has created. */
function pathOf({ action, owner, answers }: Operation): string | undefined {
  const id = answers.find((answer) => answer.id !== null)?.id
  if (id === undefined || owner === 'administrator') return undefined
  if (action === 'create payment') return `/payments/${id}`
  if (action === 'add address') return `/addresses/${id}`
  return action === 'save method' ? `/payment-methods/${id}` : undefined
}
