// Replaces the clocks, timers and random numbers of this thread, for the product's code as well: imports of builtin modules are
// bound to their exports, which `syncBuiltinESMExports` replaces.
import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import { seededRandom } from '@paylog/bench/harness/seededRandom'
import { runningProcess, type World } from './scheduler.ts'

let current: World | undefined
/** Each use has its own sequence: the product keeps random bytes for later, also for later histories. */
let random = { pauses: randomOfEach(0), ids: randomOfEach(0), bytes: seededRandom(0) }

/** The world of the history that runs. */
export function world(): World {
  if (current === undefined) throw new Error('no history is running')
  return current
}

/** 0 while modules are loaded. */
const clock = () => current?.now() ?? 0

/** From now on, time and ids are this world's. */
export function enterWorld(entered: World, seed: number): void {
  current = entered
  random = { pauses: randomOfEach(seed), ids: randomOfEach(seed + 1), bytes: seededRandom(seed + 2) }
}

/** A sequence for each process, so that what one of them gets does not depend on the others. */
function randomOfEach(seed: number): () => number {
  const sequences = new Map<string, () => number>()
  return () => {
    const name = runningProcess()?.name ?? ''
    const next = sequences.get(name) ?? seededRandom(seed + 1_000_003 * seedOf(name))
    sequences.set(name, next)
    return next()
  }
}

const seedOf = (name: string) => [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 1_009, 0)

class SimulatedDate extends Date {
  constructor(...given: readonly [] | readonly [string | number | Date]) {
    super(given[0] ?? clock())
  }

  static override now = clock
}

function setTimer(callback: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): object {
  // Keeps the process and the priority of the code that sets it.
  const resume = AsyncLocalStorage.snapshot()
  const start = () => world().after(timer, ms, () => resume(callback, ...given))
  const timer = {
    ref: () => timer,
    unref: () => timer,
    refresh: () => {
      start()
      return timer
    },
  }
  start()
  return timer
}

function clearTimer(timer: object | undefined): void {
  if (timer !== undefined) current?.forget(timer)
}

function sleep<Value>(ms: number, value?: Value, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    const abort = () => {
      clearTimer(timer)
      reject(signal?.reason)
    }
    const timer = setTimer(() => {
      signal?.removeEventListener('abort', abort)
      resolve(value as Value)
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
  })
}

function bytesOf(next: () => number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  for (let at = 0; at < size; at++) bytes[at] = Math.floor(next() * 256)
  return bytes
}

function randomUuid(version: string): string {
  const hex = bytesOf(random.ids, 16).toString('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, `$1-$2-${version}$3-8$4-$5`)
}

/** Must be called before anything is started. There is no way back: a thread that simulates does nothing else. */
export function installSimulatedBuiltins(): void {
  Object.assign(globalThis, { Date: SimulatedDate, setTimeout: setTimer, clearTimeout: clearTimer })
  Object.assign(Math, { random: () => random.pauses() })
  Object.assign(performance, { now: clock })
  Object.assign(timersPromises, { setTimeout: sleep })
  const randomBytes = (size: number) => bytesOf(random.bytes, size)
  const randomUUID = () => randomUuid('4')
  Object.assign(crypto, { randomBytes, randomUUID, randomUUIDv7: () => randomUuid('7') })
  // The package `stripe` takes its ids from here.
  Object.assign(globalThis.crypto, { randomUUID })
  syncBuiltinESMExports()
}
