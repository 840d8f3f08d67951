// Sends requests on several connections at once, judges every response, and samples the memory of the servers.
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../campaign/random.ts'
import { type Finding, judge, parsedJson } from './judge.ts'
import { type Growth, growthOf, isTooMuch, type Memory, memoryOf } from './memory.ts'
import { type PlannedRequest, planRequest } from './plan.ts'
import { createPool } from './pool.ts'
import { startProviders } from './providers.ts'
import { createSender, type ReceivedResponse } from './send.ts'
import { startRequestSystem } from './system.ts'

export type Violation = Finding & { readonly index: number; readonly route: string; readonly request: string }
export type RequestsResult = {
  readonly sent: number
  /** By route and first digit of the status, such as `GET /payments 2`. */
  readonly statuses: ReadonlyMap<string, number>
  readonly mutations: ReadonlyMap<string, number>
  /** By server and message, the errors in the log. */
  readonly errors: ReadonlyMap<string, number>
  /** How often a request was sent again, because there was no response or something was not available. */
  readonly repeated: number
  readonly growth: readonly Growth[]
  readonly violations: readonly Violation[]
}
export type RequestsOptions = {
  readonly seed: number
  readonly requests: number
  readonly connections: number
  /** Sends the first requests, and then this one, which is printed with its response. */
  readonly replay?: number | undefined
}

const requestsPerSample = 2_000
/** Fewer say nothing about memory. */
const leastForMemory = 50_000
/** Enough that most kinds of resources exist. */
const sentBeforeReplay = 2_000
const keptViolations = 1_000
/** On a busy machine, backends do not always respond in time. A request that causes such an error causes it again. */
const repetitions = 4
const repetitionPauseMs = 3_000

/** @param stop ends the run early. @param print gets progress, and each violation */
export async function runRequests(
  stack: AsyncDisposableStack,
  { seed, connections, replay, ...options }: RequestsOptions,
  stop: AbortSignal,
  print: (line: string) => void,
): Promise<RequestsResult> {
  const pool = createPool()
  const providers = await startProviders(stack, pool)
  const system = await startRequestSystem(stack, providers.env)
  const send = createSender(stack, system.url, connections)
  const total = replay === undefined ? options.requests : Math.min(replay, sentBeforeReplay)
  const [statuses, mutations] = [new Map<string, number>(), new Map<string, number>()]
  const violations: Violation[] = []
  let repeated = 0
  const memory = new Map<string, Memory[]>()

  async function sendUntilAvailable(request: PlannedRequest): Promise<ReceivedResponse> {
    for (let left = repetitions; ; left--) {
      const response = await send(request)
      if (request.raw || ![0, 502, 503, 504].includes(response.status) || left === 0) return response
      repeated++
      await pause(repetitionPauseMs)
    }
  }

  async function act(index: number): Promise<void> {
    const random = createRandom(seed, `request ${index}`)
    const request = planRequest(system.routes, { random, pool, providers })
    const { route, owners, path } = request
    const { status, headers, text } = await sendUntilAvailable(request)
    if (index === replay) print(`${shown(request)}\n${status} ${JSON.stringify(headers)}\n${text}`)
    count(statuses, `${route?.name ?? 'no route'} ${Math.floor(status / 100)}`)
    count(mutations, request.mutation)
    for (const { rule, story } of judge(request, { status, headers, text }, system.isError)) {
      if (violations.length >= keptViolations) return
      const log = status >= 500 ? system.logged(String(headers['x-request-id'])).join('\n') : ''
      const about = { index, route: route?.name ?? 'no route', request: shown(request) }
      violations.push({ rule, story: `${story}\n${log}`.trim(), ...about })
      print(`${rule}, ${about.route}, request ${index}: ${story.slice(0, 200)}`)
    }
    if (route === undefined || status < 200 || status > 299) return
    const body = parsedJson(text)
    pool.learn(path.split('?', 1)[0] ?? '', owners[0] ?? '', headers, body)
    if (route.name === 'POST /payments/intents') providers.pay(Object(body).data, random)
  }

  const startedAt = performance.now()
  let next = 0
  while (next < total && !stop.aborted) {
    const until = Math.min(total, next + requestsPerSample)
    const worker = async () => {
      while (next < until && !stop.aborted) await act(next++)
    }
    await Promise.all(Array.from({ length: connections }, worker))
    for (const [name, server] of system.servers) memory.set(name, [...(memory.get(name) ?? []), await memoryOf(server)])
    const perSecond = next / ((performance.now() - startedAt) / 1_000)
    print(`${next} requests, ${perSecond.toFixed(0)} a second, ${violations.length} violations`)
  }
  if (replay !== undefined) await act(replay)
  const errors = new Map<string, number>()
  for (const line of system.logged('"level":"error"')) {
    const { app, msg, code = '', err } = Object(parsedJson(line))
    count(errors, `${app}: ${msg} ${code} ${Object(err).message ?? ''}`)
  }
  const growth = [...memory].flatMap(([name, all]) => growthOf(name, all))
  const grown = next < leastForMemory ? [] : growth.filter(isTooMuch)
  const late = [
    ...grown.map(({ name, measure, after }) => ({ rule: 'memory grows', story: `${measure} of ${name}: ${after}` })),
    ...(await system.failing()).map((story) => ({ rule: 'does not recover', story })),
  ]
  violations.push(...late.map((finding) => ({ ...finding, index: next, route: 'none', request: '' })))
  return { sent: next, statuses, mutations, errors, repeated, growth, violations }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** What was sent, for a reader. Bytes that are no text are in base64. */
function shown({ method, path, headers, body = Buffer.alloc(0), raw }: PlannedRequest): string {
  const bytes = raw ?? body
  const isText = Buffer.from(bytes.toString()).equals(bytes)
  const text = isText ? bytes.toString() : `base64:${bytes.toString('base64')}`
  return JSON.stringify({ ...(!raw && { method, path, headers }), [raw ? 'raw' : 'body']: text }).slice(0, 4_000)
}
