// Recorded scenarios: the requests to EventStoreDB, step by step, and its responses.
import { readFileSync } from 'node:fs'

export type EventSpec = {
  /** A symbol for an event id, unique within a scenario. */
  readonly id: string
  readonly type?: string
  readonly noType?: boolean
  readonly contentType?: string
  readonly rawId?: string
  readonly data?: unknown
  readonly meta?: unknown
  /** That many bytes of data. */
  readonly size?: number
  /** Data of a link event, with a symbol for the stream. */
  readonly link?: string
}

export type Expectation = 'any' | 'no_stream' | 'stream_exists' | number

export type FilterSpec = {
  readonly by: 'stream' | 'type'
  readonly regex?: string
  readonly prefix?: readonly string[]
  readonly max?: number
  readonly every?: number
}

export type ReadSpec = {
  readonly stream?: string
  readonly dir?: 'forwards' | 'backwards'
  readonly from: 'start' | 'end' | number | { readonly positionOf: number }
  readonly count?: number
  readonly links?: boolean
  readonly filter?: FilterSpec
  readonly control?: number
}

export type AppendStep = {
  readonly op: 'append'
  readonly stream: string
  readonly expect: Expectation
  readonly events: readonly (string | EventSpec)[]
  readonly via?: 'unary' | 'batch'
  readonly chunks?: number
}
export type MetaStep = {
  readonly op: 'meta'
  readonly stream: string
  readonly id: string
  readonly value: unknown
  readonly expect?: Expectation
}
export type RemoveStep = { readonly op: 'delete' | 'tombstone'; readonly stream: string; readonly expect: Expectation }
export type ReadStep = ReadSpec & { readonly op: 'read' }
export type SubscribeStep = ReadSpec & {
  readonly op: 'subscribe'
  readonly checkpoints?: boolean
  /** Steps to play while the subscription is open, each when it is quiet. */
  readonly during?: readonly Step[]
}
export type Step = AppendStep | MetaStep | RemoveStep | ReadStep | SubscribeStep | { op: 'sleep'; ms: number }

export type Json = null | string | number | boolean | readonly Json[] | { readonly [key: string]: Json }
export type RecordedResponse = { readonly [key: string]: Json }

export type Scenario = {
  readonly name: string
  readonly steps: readonly Step[]
  readonly answers: readonly RecordedResponse[]
}

/** The scenarios of a recording in this project, `named` or `random`. */
export function scenariosOf(recording: 'named' | 'random'): Scenario[] {
  const text = readFileSync(new URL(`../recordings/${recording}.ndjson`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Scenario => JSON.parse(line))
}

/**
 * Whether concurrent scenarios could change the responses: checkpoints count every event, an unfiltered read of the log
 * stops at its count, and a scenario that sleeps until events expire must run its other steps fast.
 */
export function needsOwnLog(scenario: Scenario): boolean {
  return scenario.steps.some((step) => {
    if (step.op === 'sleep') return true
    if (step.op === 'subscribe') return step.checkpoints === true
    return step.op === 'read' && step.stream === undefined && step.filter === undefined
  })
}

/** Whether it appends more than EventStoreDB accepts. */
export function hasLargeAppend({ steps }: Scenario): boolean {
  const sizeOf = (event: string | EventSpec) => (typeof event === 'string' ? 0 : (event.size ?? 0))
  return steps.some(
    ({ op, ...step }) => 'events' in step && step.events.reduce((sum, event) => sum + sizeOf(event), 0) > 1 << 20,
  )
}
