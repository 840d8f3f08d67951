import { randomUUIDv7 } from 'node:crypto'
import {
  type AddressState,
  addressFold,
  changeAddress,
  clearDefaultAddress,
  existingAddress,
} from '@paylog/domain/addresses/address'
import { type AddressEvent, emptyAddressContent } from '@paylog/domain/addresses/events'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { addressStream, defaultChoiceStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import type { Workflow } from '../context.ts'
import { seededRandom } from '../testing/workflowHarness.ts'
import { chooseDefaultItem, clearPreviousDefaults } from './defaultChoice.ts'

const log = await startEventStore(t)
const store = createEventStore({ connectionString: log.connectionString })
t.teardown(() => store.close())
const workflow: Workflow = { store, providers: new Map(), now: () => new Date() }
const metadata = { correlationId: 'test', causationId: 'test', actor: 'worker' }
const occurred_at = '2026-01-01T00:00:00.000Z'

const unowned = { user_id: null, guest_email: null, default_choice: null, request_fingerprint: null }

const decide = (address_id: string, events: (state: AddressState) => AddressEvent[]) =>
  store.handle({
    stream: addressStream(address_id),
    fold: addressFold,
    decide: events,
    metadata,
  })

/** An owner with this many addresses, and the three steps that make one of them the default. */
async function ownerOf(count: number) {
  const owner = randomUUIDv7()
  const ids = Array.from({ length: count }, () => randomUUIDv7())
  await Promise.all(
    ids.map((address_id) =>
      decide(address_id, () => [
        {
          type: 'AddressAdded',
          data: {
            address_id,
            occurred_at,
            ...unowned,
            ...emptyAddressContent,
            address_type: 'billing',
            is_partial: true,
          },
        },
      ]),
    ),
  )
  const choosing = (item_id: string) => ({ list: 'billing_addresses', owner, item_id, metadata }) as const
  const choose = (id: string) => chooseDefaultItem(workflow, choosing(id))
  const carry = (id: string, choice: number) =>
    decide(id, (state) =>
      changeAddress({ occurred_at, changes: {}, default_choice: { address_type: 'billing', choice } }, state),
    )
  const clear = (before?: (id: string) => Promise<void>) => (id: string) =>
    clearPreviousDefaults(workflow, choosing(id), async (itemId, choice) => {
      await before?.(itemId)
      await decide(itemId, (state) =>
        clearDefaultAddress({ occurred_at, superseded_by: { address_type: 'billing', choice } }, state),
      )
    })
  return { ids, owner, choose, carry, clear: clear(), clearAfter: clear, defaults: () => defaultsOf(ids) }
}

/** The addresses marked as default, and the address with the highest choice number. */
async function defaultsOf(ids: readonly string[]) {
  const loaded = await Promise.all(ids.map((id) => store.load(addressStream(id), addressFold)))
  const items = loaded.map(({ state }) => existingAddress(state))
  return {
    marked: items.filter(({ is_default }) => is_default).map(({ address_id }) => address_id),
    highest: items.toSorted((a, b) => (b.default_choice ?? -1) - (a.default_choice ?? -1))[0]?.address_id,
  }
}

/** Three addresses, of which the first is the default. */
async function threeItems() {
  const owner = await ownerOf(3)
  const [a = '', b = '', c = ''] = owner.ids
  const make = async (id: string) => {
    await owner.carry(id, await owner.choose(id))
    await owner.clear(id)
  }
  await make(a)
  return { ...owner, a, b, c, make }
}

t.test('choices are numbered per list in order, and choosing the current default again keeps its number', async (t) => {
  const choosing = { list: 'payment_methods', owner: randomUUIDv7(), item_id: randomUUIDv7(), metadata } as const
  const other = { ...choosing, item_id: randomUUIDv7() }
  t.equal(await chooseDefaultItem(workflow, choosing), 0)
  t.equal(await chooseDefaultItem(workflow, choosing), 0)
  t.equal(await chooseDefaultItem(workflow, other), 1)
  t.equal(await chooseDefaultItem(workflow, choosing), 2)
  t.equal(await chooseDefaultItem(workflow, { ...other, list: 'billing_addresses' }), 0, 'another list')
  t.equal(await chooseDefaultItem(workflow, { ...other, owner: randomUUIDv7() }), 0, 'another owner')
})

t.test('choosing and clearing read few events of a long list of choices', async (t) => {
  const { ids, owner, choose, carry } = await ownerOf(3)
  const [a = '', b = '', c = ''] = ids
  const stream = defaultChoiceStream('billing_addresses', owner)
  const chosen = (_: unknown, choice: number) => ({
    type: 'DefaultChosen' as const,
    data: { list: 'billing_addresses' as const, chosen_id: choice % 2 ? a : b, choice, occurred_at },
  })
  const fold = { initialState: undefined, evolve: () => undefined }
  await store.handle({ stream, fold, decide: () => Array.from({ length: 1_000 }, chosen), metadata })
  await carry(a, 999)
  let read = 0
  let handled = 0
  const handle: EventStore['handle'] = (command) => {
    handled++
    return store.handle(command)
  }
  const counting: Workflow = {
    ...workflow,
    store: {
      ...store,
      handle,
      async readStream(name, range) {
        const events = await store.readStream(name, range)
        if (name === stream) read += events.length
        return events
      },
      async load(name, fold, until) {
        if (name === stream) read += 1_000
        return store.load(name, fold, until)
      },
    },
  }
  const choosing = { list: 'billing_addresses', owner, item_id: c, metadata } as const
  t.equal(await chooseDefaultItem(counting, choosing), 1_000)
  const cleared: string[] = []
  await clearPreviousDefaults(counting, choosing, async (id) => void cleared.push(id))
  t.same(cleared, [a, b])
  t.ok(read < 200, `${read} events`)
  t.equal(handled, 1)
  t.equal(await chooseDefaultItem(counting, choosing), 1_000)
  t.equal(handled, 1, 'the current choice is found in the last event')
  t.equal(await choose(c), 1_000)
})

t.test('concurrent choices get one number per item', async (t) => {
  const same = await ownerOf(1)
  const [id = ''] = same.ids
  t.same(new Set(await Promise.all(Array.from({ length: 20 }, () => same.choose(id)))), new Set([0]))
  const many = await ownerOf(20)
  const numbers = await Promise.all(many.ids.map(many.choose))
  t.same(
    numbers.toSorted((a, b) => a - b),
    numbers.map((_, index) => index),
  )
})

t.test('after 20 items are made the default concurrently, only the last choice is the default', async (t) => {
  const { ids, choose, carry, clear, defaults } = await ownerOf(20)
  await Promise.all(
    ids.map(async (id) => {
      await carry(id, await choose(id))
      await clear(id)
    }),
  )
  const { marked, highest } = await defaults()
  t.same(marked, [highest])
})

t.test('a list with no choice or only one clears nothing', async (t) => {
  const { ids, choose, clear, clearAfter, carry, defaults } = await ownerOf(1)
  const [id = ''] = ids
  const cleared: string[] = []
  await clearAfter(async (itemId) => void cleared.push(itemId))(id)
  await carry(id, await choose(id))
  await clear(id)
  await clearAfter(async (itemId) => void cleared.push(itemId))(id)
  t.same(cleared, [])
  t.same((await defaults()).marked, [id])
})

t.test('the previous default is cleared even when two others are chosen first', async (t) => {
  const { b, c, choose, carry, clear, defaults } = await threeItems()
  const [second, third] = [await choose(b), await choose(c)]
  await carry(b, second)
  await clear(b)
  await carry(c, third)
  await clear(c)
  t.same(await defaults(), { marked: [c], highest: c })
})

t.test('an item that records an earlier choice late is cleared by its own request', async (t) => {
  const { b, c, choose, carry, clear, defaults } = await threeItems()
  const [second, third] = [await choose(b), await choose(c)]
  await carry(c, third)
  await clear(c)
  await carry(b, second)
  t.match(await defaults(), { highest: c }, 'the higher number wins before')
  await clear(b)
  t.same(await defaults(), { marked: [c], highest: c })
})

t.test('an item that is chosen again while it is being cleared stays the default', async (t) => {
  const { a, b, choose, carry, clear, clearAfter, make, defaults } = await threeItems()
  await carry(b, await choose(b))
  await clearAfter(async (id) => {
    if (id === a) await make(a)
  })(b)
  t.same(await defaults(), { marked: [a], highest: a })
  await clear(b)
  t.same(await defaults(), { marked: [a], highest: a })
})

t.test('a request that crashes after its choice changes nothing, and the next request repairs the list', async (t) => {
  const { a, b, c, choose, make, defaults } = await threeItems()
  await choose(b)
  t.same(await defaults(), { marked: [a], highest: a })
  await make(c)
  t.same(await defaults(), { marked: [c], highest: c })
})

t.test(
  'a request that crashes before clearing the previous default is repaired by a retry or by the next request',
  async (t) => {
    for (const next of ['b', 'c', 'a'] as const) {
      const { choose, carry, make, defaults, ...items } = await threeItems()
      await carry(items.b, await choose(items.b))
      t.match(await defaults(), { highest: items.b }, 'the higher number wins')
      await make(items[next])
      t.same(await defaults(), { marked: [items[next]], highest: items[next] }, `by ${next}`)
    }
  },
)

t.test('interleaved requests leave exactly one default', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = seededRandom(seed)
    const { ids, choose, carry, clear, defaults } = await ownerOf(6)
    const requests = Array.from({ length: 8 }, () => {
      const id = ids[random(ids.length)] ?? ''
      let choice = 0
      const steps = [
        async () => {
          choice = await choose(id)
        },
        () => carry(id, choice),
        () => clear(id),
      ]
      return steps
    })
    while (requests.some((steps) => steps.length > 0)) await requests[random(requests.length)]?.shift()?.()
    const { marked, highest } = await defaults()
    t.same(marked, [highest], `order ${seed}`)
  }
})
