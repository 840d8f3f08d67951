// Runs processes on simulated time: decides which message arrives next, when time passes, and what goes wrong.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createStates } from './states.ts'

/** A process of the product. When it dies, its memory, timers and connections are gone. */
export type Process = { readonly name: string; isAlive: boolean; readonly onDeath: (() => void)[] }

/** Something that can happen next: a message arrives, or a query is answered. */
export type Step = {
  readonly what: string
  /** Whose step it is. It does not happen when this process is dead. */
  readonly owner: Process | undefined
  /** What it reads or changes. Steps on different things, and two reads, may happen in either order. */
  readonly on: string
  readonly isRead: boolean
  readonly since: number
  readonly run: () => void
}

type Timer = { readonly at: number; readonly owner: Process | undefined; readonly run: () => void }

/** Decides what is left open. */
export type Policy = {
  /** @returns the index of the step that happens next, or `time` when the next timer fires first */
  order(steps: readonly Step[], msToNextTimer: number): number | 'time'
  /** @returns the fault that a step meets; undefined for none. @param permille how often, of a thousand times */
  fault<Kind extends string>(kinds: readonly Kind[], permille: number): Kind | undefined
  /** Called between steps. */
  between?(world: World): void
  /** Whether requests of clients and all responses are steps too. If not, they arrive at once. */
  readonly delaysMessages: boolean
  /** How long a step takes. */
  readonly stepMs: number
  /** Timers up to this long fire at once: pauses before a retry. */
  readonly atOnceMs: number
}

export type World = ReturnType<typeof createWorld>

const owners = new AsyncLocalStorage<Process>()
/** The process whose code is running. */
export const runningProcess = () => owners.getStore()
export const inProcess = <Result>(process: Process, run: () => Result): Result => owners.run(process, run)

/** Kept before the builtins are replaced. All promises and ticks are done when it calls back. */
const immediate = setImmediate
const settled = () => new Promise<void>((resolve) => void immediate(resolve))

/** Far more than a history that settles takes. */
const maxSteps = 6_000

function firstOf(timers: ReadonlyMap<object, Timer>): [object, Timer] | undefined {
  let first: [object, Timer] | undefined
  for (const entry of timers) if (first === undefined || entry[1].at < first[1].at) first = entry
  return first
}

type Work = {
  readonly steps: Step[]
  readonly timers: Map<object, Timer>
  readonly arrives: (step: Step) => boolean
}

/** What the process was about to do is dropped, but for changes that still arrive. */
function end(process: Process, { steps, timers, arrives }: Work): void {
  process.isAlive = false
  for (const [handle, timer] of timers) if (timer.owner === process) timers.delete(handle)
  const lost = steps.filter((step) => step.owner === process && (step.isRead || !arrives(step)))
  for (const step of lost) steps.splice(steps.indexOf(step), 1)
  for (const ended of process.onDeath.splice(0)) ended()
}

export function createWorld(policy: Policy, startMs: number) {
  const steps: Step[] = []
  const timers = new Map<object, Timer>()
  const faults = new Map<string, number>()
  const story: string[] = []
  const problems: string[] = []
  const over = new AbortController()
  const states = createStates()
  let [now, count] = [startMs, 0]

  function happen(index: number): void {
    const step = steps.splice(index, 1)[0] as Step
    if (index > 0) world.tell(`${step.what} overtakes ${steps[0]?.what}`)
    if (step.owner) states.sees(step.owner.name, step.what, step.on)
    step.run()
  }

  const world = {
    steps: steps as readonly Step[],
    /** How often each fault happened. */
    faults,
    /** What happened, one line each. */
    story: story as readonly string[],
    /** What may never happen: a process that stops by itself, an error that nobody handles. */
    problems,
    /** Aborts at the end, when nothing counts any more: Node keeps what listens to a signal that never does. */
    over: over.signal,
    async end(): Promise<void> {
      over.abort()
      await settled()
    },
    now: () => now,
    stepsTaken: () => count,
    states,
    tell: (line: string) => void story.push(`${((now - startMs) / 1_000).toFixed(3)} s  ${line}`),
    add: (step: Omit<Step, 'since'>) => void steps.push({ ...step, since: now }),
    /** A request of a client or a response, which arrives at once unless the policy delays it. */
    send(what: string, owner: Process | undefined, run: () => void): void {
      if (owner?.isAlive === false) return
      if (policy.delaysMessages) world.add({ what, owner, on: 'message', isRead: true, run })
      else run()
    },
    fault<Kind extends string>(what: string, kinds: readonly Kind[], permille: number): Kind | undefined {
      const kind = policy.fault(kinds, permille)
      if (kind === undefined) return undefined
      world.count(kind)
      world.tell(`${what}: ${kind}`)
      return kind
    },
    count: (kind: string) => void faults.set(kind, (faults.get(kind) ?? 0) + 1),
    after(handle: object, ms: number, run: () => void): void {
      timers.set(handle, { at: now + Math.max(0, ms), owner: runningProcess(), run })
    },
    forget: (handle: object) => void timers.delete(handle),
    /** Ends a process without warning. @param arrives whether a change that it has sent still arrives */
    kill: (process: Process, arrives: (step: Step) => boolean) => end(process, { steps, timers, arrives }),
    /** Runs until this is true, or nothing is left to happen. @throws when there is no end */
    async run(isOver: () => boolean): Promise<void> {
      for (;;) {
        await settled()
        if (isOver()) return
        if (++count > maxSteps) throw new Error(`It does not settle: ${steps.map(({ what }) => what).join(', ')}`)
        policy.between?.(world)
        const timer = firstOf(timers)
        const isAtOnce = timer !== undefined && timer[1].at - now <= policy.atOnceMs
        const order = steps.length === 0 || isAtOnce ? 'time' : policy.order(steps, (timer?.[1].at ?? Infinity) - now)
        if (order !== 'time') {
          now += policy.stepMs
          happen(order)
        } else if (timer === undefined) return
        else {
          now = Math.max(now, timer[1].at)
          timers.delete(timer[0])
          timer[1].run()
        }
      }
    },
  }
  return world
}
