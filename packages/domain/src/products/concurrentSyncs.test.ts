// Random syncs that fail, crash, write late or are taken over, against a simulated catalogue.
import fc from 'fast-check'
import t from 'tap'
import type { ProductEvent } from './events.ts'
import {
  endSync,
  evolveSync,
  type Hashes,
  isSyncing,
  lateCallMs,
  type ProviderSyncState,
  planSync,
  startSync,
} from './sync.ts'

const facts = { product_id: '018f0000-0000-7000-8000-000000000001', provider_id: 'stripe' }
const ids = { provider_product_id: facts.product_id, provider_price_id: 'price_1', kept_fields: [] }

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']
type Write = { readonly part: 'content' | 'price'; readonly value: string | null; readonly started_at: number }
type Process = { readonly started: Started; readonly left: Write[] }

const acts = [
  ...(['start', 'start', 'write', 'write', 'write', 'succeed', 'succeed', 'change content', 'change price'] as const),
  ...(['write late', 'fail', 'crash', 'wait'] as const),
]
/** An act uses the fields that it needs. */
const stepOf = (among: typeof acts) =>
  fc.record({
    act: fc.constantFrom(...among),
    pick: fc.nat(7),
    force: fc.boolean(),
    updatePrices: fc.boolean(),
    code: fc.constantFrom('provider_rejected', 'provider_outcome_unknown'),
    to: fc.constantFrom('1', '2', '3'),
    pauseMs: fc.constantFrom(0, 1_000, lateCallMs / 10, lateCallMs / 3),
  })
const step = stepOf(acts)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** A product, a catalogue, and the processes that sync it. */
function createSimulation() {
  const remote = { content: undefined as string | null | undefined, price: undefined as string | null | undefined }
  const local = { content: '1', price: '1' }
  let state: ProviderSyncState | undefined
  let now = Date.parse('2026-01-01T00:00:00.000Z')
  const processes: Process[] = []
  let late: Write[] = []
  const wanted = (): Hashes => ({ content_hash: local.content, price_hash: local.price })
  const iso = () => new Date(now).toISOString()

  function record(events: readonly ProductEvent[]): void {
    for (const event of events)
      if (event.type === 'ProductSyncStarted' || event.type === 'ProductSynced' || event.type === 'ProductSyncFailed')
        state = evolveSync(state, event)
  }
  function apply(write: Write | undefined): void {
    if (write) remote[write.part] = write.value
  }
  function start(force: boolean, updatePrices: boolean): void {
    const plan = planSync(state, { wanted: wanted(), force, updatePrices })
    if (plan.status === 'skipped' || isSyncing(state, new Date(now))) return
    const [event] = startSync({ ...facts, occurred_at: iso() }, plan.goal, state)
    if (event?.type !== 'ProductSyncStarted') throw new Error('expected a started sync')
    record([event])
    const left: Write[] = [{ part: 'content', value: plan.goal.content_hash, started_at: now }]
    if (plan.goal.price === 'put') left.push({ part: 'price', value: plan.goal.price_hash, started_at: now })
    processes.push({ started: event.data, left })
  }
  function succeed(process: Process): void {
    for (const write of process.left.splice(0)) apply(write)
    leave(process)
    const { sync } = process.started
    record(endSync({ ...facts, sync, occurred_at: iso() }, process.started, ids, state))
  }
  const leave = (process: Process) => void processes.splice(processes.indexOf(process), 1)
  const chosen = (pick: number): Process | undefined => processes[pick % processes.length]

  return {
    remote,
    local,
    processes,
    state: () => state,
    start,
    succeed,
    /** Drops late writes older than lateCallMs, and fails processes that have run that long. */
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
    crash(process: Process): void {
      leave(process)
      late.push(...process.left)
    },
    chosen,
    plan: (updatePrices: boolean) => planSync(state, { wanted: wanted(), force: false, updatePrices }),
  }
}
type Simulation = ReturnType<typeof createSimulation>

function take(simulation: Simulation, { act, pick, force, updatePrices, code, to, pauseMs }: Step): void {
  const process = simulation.chosen(pick)
  if (act === 'start') simulation.start(force, updatePrices)
  else if (act === 'write') simulation.write(pick)
  else if (act === 'write late') simulation.writeLate(pick)
  else if (act === 'wait') simulation.wait(pauseMs)
  else if (act === 'change content') simulation.local.content = to
  else if (act === 'change price') simulation.local.price = to
  else if (process && act === 'succeed') simulation.succeed(process)
  else if (process && act === 'fail') simulation.fail(process, code)
  else if (process) simulation.crash(process)
}

/** A product may be skipped only if the catalogue has its content and price. */
function requireCorrectSkips({ plan, remote, local }: Simulation): void {
  for (const updatePrices of [false, true]) {
    const { status, price_differs } = plan(updatePrices)
    if (status !== 'skipped') continue
    if (remote.content !== local.content) throw new Error(`skipped although the content is ${remote.content}`)
    if (!price_differs && remote.price !== local.price) throw new Error(`skipped although the price is ${remote.price}`)
  }
}

const runs = 20_000

t.test('concurrent syncs never skip a product that differs at the provider, and a final sync settles it', async (t) => {
  let skips = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 3, maxLength: 40 }), (steps) => {
      const simulation = createSimulation()
      for (const step of steps) {
        take(simulation, step)
        requireCorrectSkips(simulation)
        if (simulation.plan(false).status === 'skipped') skips++
      }
      for (const process of [...simulation.processes]) simulation.crash(process)
      simulation.wait(lateCallMs)
      simulation.start(false, true)
      for (const process of [...simulation.processes]) simulation.succeed(process)
      requireCorrectSkips(simulation)
      if (simulation.plan(true).status !== 'skipped') throw new Error('the product is still not settled')
    }),
    { numRuns: runs },
  )
  t.ok(skips > runs / 2, 'enough syncs were skipped for a meaningful test')
})

t.test('when no sync fails or is slower than its lease, the content is settled after each', async (t) => {
  const withoutFaults = stepOf(acts.slice(0, -4))
  fc.assert(
    fc.property(fc.array(withoutFaults, { minLength: 3, maxLength: 40 }), (steps) => {
      const simulation = createSimulation()
      for (const step of steps) {
        take(simulation, step)
        const running = simulation.processes.length
        if (running > 1) throw new Error('two syncs run at the same time')
        if (running === 0 && simulation.state()?.content.is_unsettled) throw new Error('the content is unsettled')
      }
    }),
    { numRuns: runs },
  )
  t.pass(`${runs} random runs`)
})

// We cannot fence off a provider. If a crashed process's call takes effect after lateCallMs, only `force` finds it.
t.test("a crashed process's call after lateCallMs goes unnoticed until a forced sync", async (t) => {
  const simulation = createSimulation()
  simulation.start(false, false)
  const [first] = simulation.processes
  if (!first) throw new Error('expected a started sync')
  simulation.crash(first)
  simulation.wait(lateCallMs)
  simulation.local.content = '2'
  simulation.start(false, false)
  for (const process of [...simulation.processes]) simulation.succeed(process)
  simulation.remote.content = first.started.content_hash
  t.match(simulation.plan(false), { status: 'skipped' })
  simulation.start(true, false)
  for (const process of [...simulation.processes]) simulation.succeed(process)
  t.equal(simulation.remote.content, '2', 'force repairs it')
})
