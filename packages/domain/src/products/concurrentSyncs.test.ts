// Syncs that overlap, fail, die and come late, against a model of a catalogue that does what it is told when it is told.
import fc from 'fast-check'
import t from 'tap'
import type { ProductEvent } from './events.ts'
import {
  endSync,
  evolveSync,
  type Hashes,
  lateCallMs,
  needsAnotherSync,
  type ProviderSyncState,
  planSync,
  startSync,
} from './sync.ts'

const facts = { product_id: '018f0000-0000-7000-8000-000000000001', provider_id: 'stripe' }
const ids = { provider_product_id: facts.product_id, provider_price_id: 'price_1', kept_fields: [] }

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']
type Write = { readonly part: 'content' | 'price'; readonly value: string | null; readonly started_at: number }
type Process = { readonly started: Started; readonly updatePrices: boolean; readonly left: Write[] }

const pick = fc.nat(7)
const pauseMs = fc.constantFrom(0, 1_000, lateCallMs / 10, lateCallMs / 3)
const choice = fc.constantFrom('1', '2', '3')
const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('start' as const), force: fc.boolean(), updatePrices: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('write' as const), pick }) },
  fc.record({ act: fc.constant('write late' as const), pick }),
  { weight: 2, arbitrary: fc.record({ act: fc.constant('succeed' as const), pick }) },
  fc.record({
    act: fc.constant('fail' as const),
    pick,
    code: fc.constantFrom('provider_rejected', 'provider_outcome_unknown'),
  }),
  fc.record({ act: fc.constant('die' as const), pick }),
  fc.record({ act: fc.constant('change content' as const), to: choice }),
  fc.record({ act: fc.constant('change price' as const), to: choice }),
  fc.record({ act: fc.constant('wait' as const), pauseMs }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A product, a catalogue, and the processes that are at it. */
function createSimulation() {
  const remote = { content: undefined as string | null | undefined, price: undefined as string | null | undefined }
  const local = { content: '1', price: '1' }
  let at: ProviderSyncState | undefined
  let now = Date.parse('2026-01-01T00:00:00.000Z')
  const processes: Process[] = []
  let late: Write[] = []
  const wanted = (): Hashes => ({ content_hash: local.content, price_hash: local.price })
  const iso = () => new Date(now).toISOString()

  function record(events: readonly ProductEvent[]): void {
    for (const event of events)
      if (event.type === 'ProductSyncStarted' || event.type === 'ProductSynced' || event.type === 'ProductSyncFailed')
        at = evolveSync(at, event)
  }
  function apply(write: Write | undefined): void {
    if (write) remote[write.part] = write.value
  }
  function start(force: boolean, updatePrices: boolean): void {
    const plan = planSync(at, { wanted: wanted(), force, updatePrices })
    if (plan.status === 'skipped') return
    const [event] = startSync({ ...facts, occurred_at: iso() }, plan.goal, at)
    if (event?.type !== 'ProductSyncStarted') throw new Error('Nothing was started')
    record([event])
    const left: Write[] = [{ part: 'content', value: plan.goal.content_hash, started_at: now }]
    if (plan.goal.price === 'put') left.push({ part: 'price', value: plan.goal.price_hash, started_at: now })
    processes.push({ started: event.data, updatePrices, left })
  }
  function succeed(process: Process): void {
    for (const write of process.left.splice(0)) apply(write)
    leave(process)
    const { sync } = process.started
    record(endSync({ ...facts, sync, occurred_at: iso() }, process.started, ids, at))
    const { updatePrices } = process
    if (at && needsAnotherSync(at, { wanted: wanted(), updatePrices, now: iso() })) start(false, updatePrices)
  }
  const leave = (process: Process) => void processes.splice(processes.indexOf(process), 1)
  const chosen = (pick: number): Process | undefined => processes[pick % processes.length]

  return {
    remote,
    local,
    processes,
    state: () => at,
    start,
    succeed,
    /** Calls of the dead and of those who gave up: no later than they are reckoned with. */
    wait(ms: number): void {
      now += ms
      late = late.filter(({ started_at }) => now - started_at < lateCallMs)
      for (const process of [...processes])
        if (now - Date.parse(process.started.occurred_at) >= lateCallMs) this.fail(process, 'provider_rejected')
    },
    write: (pick: number) => apply(chosen(pick)?.left.shift()),
    writeLate: (pick: number) => apply(late.splice(late.length === 0 ? 0 : pick % late.length, 1)[0]),
    fail(process: Process, code: string): void {
      leave(process)
      const { sync } = process.started
      record([{ type: 'ProductSyncFailed', data: { ...facts, sync, occurred_at: iso(), code, message: 'No' } }])
      if (code === 'provider_outcome_unknown') late.push(...process.left)
    },
    die(process: Process): void {
      leave(process)
      late.push(...process.left)
    },
    chosen,
    plan: (updatePrices: boolean) => planSync(at, { wanted: wanted(), force: false, updatePrices }),
  }
}
type Simulation = ReturnType<typeof createSimulation>

function take(world: Simulation, step: Step): void {
  if (step.act === 'start') world.start(step.force, step.updatePrices)
  else if (step.act === 'write') world.write(step.pick)
  else if (step.act === 'write late') world.writeLate(step.pick)
  else if (step.act === 'wait') world.wait(step.pauseMs)
  else if (step.act === 'change content') world.local.content = step.to
  else if (step.act === 'change price') world.local.price = step.to
  else end(world, step)
}

function end(world: Simulation, step: Extract<Step, { act: 'succeed' | 'fail' | 'die' }>): void {
  const process = world.chosen(step.pick)
  if (process === undefined) return
  if (step.act === 'succeed') world.succeed(process)
  else if (step.act === 'fail') world.fail(process, step.code)
  else world.die(process)
}

/** Whoever is told that nothing is to be done may rely on it. */
function requireTruth({ plan, remote, local }: Simulation): void {
  for (const updatePrices of [false, true]) {
    const { status, price_differs } = plan(updatePrices)
    if (status !== 'skipped') continue
    if (remote.content !== local.content) throw new Error(`skipped, while ${remote.content} is there`)
    if (!price_differs && remote.price !== local.price) throw new Error(`skipped, while ${remote.price} is the price`)
  }
}

const runs = 20_000

t.test('nothing is skipped that is different there, and an undisturbed sync makes it the same', async (t) => {
  let skips = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 3, maxLength: 40 }), (steps) => {
      const world = createSimulation()
      for (const step of steps) {
        take(world, step)
        requireTruth(world)
        if (world.plan(false).status === 'skipped') skips++
      }
      for (const process of [...world.processes]) world.die(process)
      world.wait(lateCallMs)
      world.start(false, true)
      for (const process of [...world.processes]) world.succeed(process)
      requireTruth(world)
      if (world.plan(true).status !== 'skipped') throw new Error('It is still not settled')
    }),
    { numRuns: runs },
  )
  t.ok(skips > runs / 2, 'and it is skipped often enough to mean something')
})

t.test('when all who are at it live and succeed, what is there is known as soon as the last has ended', async (t) => {
  const peaceful = step.filter(({ act }) =>
    ['start', 'write', 'succeed', 'change content', 'change price'].includes(act),
  )
  fc.assert(
    fc.property(fc.array(peaceful, { minLength: 3, maxLength: 40 }), (steps) => {
      const world = createSimulation()
      for (const step of steps) take(world, step)
      for (let calls = 0; world.processes.length > 0; calls++) {
        const [next] = world.processes
        if (next) world.succeed(next)
        if (calls > 3 * steps.length) throw new Error('They never end')
      }
      if (world.state()?.content.is_unsettled) throw new Error('Nobody knows what is there')
    }),
    { numRuns: runs },
  )
  t.pass('always')
})

// Nobody can fence a provider off. What is carried out there later than any call is reckoned with, and whose process cannot
// notice any more, is found by `force` alone.
t.test('the one hole: a call of the dead that comes later than anybody reckons with', async (t) => {
  const world = createSimulation()
  world.start(false, false)
  const [first] = world.processes
  if (!first) throw new Error('Nothing was started')
  world.die(first)
  world.wait(lateCallMs)
  world.local.content = '2'
  world.start(false, false)
  for (const process of [...world.processes]) world.succeed(process)
  world.remote.content = first.started.content_hash
  t.match(world.plan(false), { status: 'skipped' })
  world.start(true, false)
  for (const process of [...world.processes]) world.succeed(process)
  t.equal(world.remote.content, '2', 'force mends it')
})
