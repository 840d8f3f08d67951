// Whether servers hold more and more memory: what they hold at the end against what they held after the warm-up.
import { readdirSync } from 'node:fs'
import type { BenchmarkProgram } from '@paylog/bench/harness/program'
import { residentMiB } from '@paylog/bench/harness/usage'
import { Type } from 'typebox'

/** By how much each may grow, as a share and as an amount. */
const allowed = {
  heapMiB: [0.2, 12],
  residentMiB: [0.25, 60],
  handles: [0.2, 40],
  files: [0.2, 40],
} as const
type Measure = keyof typeof allowed
export type Memory = Readonly<Record<Measure, number>>
export type Growth = {
  readonly name: string
  readonly measure: Measure
  readonly before: number
  readonly after: number
}

const Reported = Type.Object({ heapMiB: Type.Number(), handles: Type.Number() })

/** @param program has loaded `memoryProbe.ts` */
export async function memoryOf(program: BenchmarkProgram): Promise<Memory> {
  const { heapMiB, handles } = await program.request({ type: 'memory' }, Reported)
  const files = process.platform === 'linux' ? readdirSync(`/proc/${program.pid}/fd`).length : 0
  return { heapMiB, handles, files, residentMiB: residentMiB(program.pid) }
}

/** @param samples of one server, in order. @returns the medians of the second and of the last fifth */
export function growthOf(name: string, samples: readonly Memory[]): Growth[] {
  const fifth = Math.floor(samples.length / 5)
  const median = (measure: Measure, of: readonly Memory[]) =>
    of.map((sample) => sample[measure]).toSorted((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0
  return (Object.keys(allowed) as Measure[]).map((measure) => ({
    ...{ name, measure },
    before: median(measure, samples.slice(fifth, 2 * fifth)),
    after: median(measure, samples.slice(-fifth)),
  }))
}

export function isTooMuch({ measure, before, after }: Growth): boolean {
  const [share, amount] = allowed[measure]
  return after > before * (1 + share) + amount
}
