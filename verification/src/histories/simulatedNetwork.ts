// The network between the provider adapters and the providers: no sockets, and faults between every two messages.

import { EventEmitter } from 'node:events'
import http, { type RequestListener } from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Agent, Dispatcher } from 'undici'
import { runningProcess } from './scheduler.ts'
import { world } from './simulatedBuiltins.ts'

/** The servers that listen, by origin. */
const listeners = new Map<string, RequestListener>()
let lastPort = 1_024

/** What the providers answered: how often each call got each status. */
export type Answers = Map<string, number>
let answers: Answers = new Map()

/** Forgets all servers. @returns the answers from now on */
export function openNetwork(): Answers {
  listeners.clear()
  answers = new Map()
  return answers
}

const requestFaults = [
  'the provider cannot be reached',
  'the request is lost',
  'the response is lost',
  'no response',
  'the provider is down and does nothing',
  'the provider is down and does it',
  'throttled',
  'an unreadable response',
] as const
type RequestFault = (typeof requestFaults)[number]

type Response = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }
type Request = Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'body'> & {
  readonly headers: Readonly<Record<string, string>>
}

/** Servers of this thread listen here, and the adapters' HTTP client sends here. */
export function installSimulatedNetwork(): void {
  Object.assign(http, { createServer: simulatedServer })
  syncBuiltinESMExports()
  // The adapters may have their own copy of undici.
  const require = createRequire(import.meta.resolve('@paylog/providers/http'))
  const undici: { Agent: typeof Agent } = require('undici')
  undici.Agent.prototype.dispatch = dispatch
}

function simulatedServer(listener: RequestListener) {
  const port = ++lastPort
  return Object.assign(new EventEmitter(), {
    listen(this: EventEmitter) {
      listeners.set(`http://127.0.0.1:${port}`, listener)
      queueMicrotask(() => this.emit('listening'))
    },
    address: () => ({ port }),
    close: () => undefined,
    closeAllConnections: () => undefined,
  })
}

/** The providers' servers respond within ticks and microtasks, so a request is executed in one step. */
async function execute(listener: RequestListener, { method, path, headers, body }: Request): Promise<Response> {
  return await new Promise((resolve) => {
    const request = {
      method,
      url: path,
      headers,
      [Symbol.asyncIterator]: async function* () {
        if (body) yield Buffer.from(body.toString())
      },
    }
    let status = 200
    const sent: Record<string, string> = {}
    const response = {
      setHeader: (name: string, value: string) => void Object.assign(sent, { [name.toLowerCase()]: value }),
      writeHead(code: number, more: Readonly<Record<string, string>> = {}) {
        status = code
        for (const [name, value] of Object.entries(more)) sent[name.toLowerCase()] = value
        return response
      },
      end: (text = '') => resolve({ status, headers: sent, text: text.toString() }),
      destroy: () => undefined,
    }
    listener(request as never, response as never)
  })
}

function dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
  const { origin, method, path, body = null } = options
  const headers = Object.fromEntries(
    Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  const owner = runningProcess()
  const what = `${owner?.name} sends ${method} ${shape(path)}`
  const listener = listeners.get(String(origin))
  const isRead = method === 'GET' || changesNothing.test(path)
  if (listener === undefined) throw new Error(`nothing listens at ${origin}`)
  const fault = world().fault(what, requestFaults, 150)
  const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController
  const fail = (code: string) =>
    world().send(`error of: ${what}`, owner, () => {
      handler.onResponseError?.(controller, Object.assign(new Error(code), { code }))
    })
  if (fault === 'the provider cannot be reached') {
    fail('ECONNREFUSED')
    return true
  }
  handler.onRequestStart?.(controller, {})
  const answer = ({ status, headers: received, text }: Response) =>
    world().send(`response to: ${what}`, owner, () => {
      handler.onResponseStart?.(controller, status, received, '')
      handler.onResponseData?.(controller, Buffer.from(text))
      handler.onResponseEnd?.(controller, {})
    })
  const run = async () => {
    const isExecuted = fault === undefined || executed.has(fault)
    if (isExecuted && !isRead)
      world().states.changed('provider', `${method} ${path} ${JSON.stringify(headers)} ${body}`)
    const response = isExecuted ? await execute(listener, { method, path, headers, body }) : undefined
    if (response) countAnswer(`${method} ${shape(path)} ${response.status}`)
    if (fault === 'the request is lost' || fault === 'the response is lost') fail('ECONNRESET')
    else if (fault === undefined && response) answer(response)
    else if (fault !== 'no response') answer(faulty[fault ?? 'throttled'] ?? faulty.throttled)
  }
  world().add({
    what,
    owner,
    on: 'provider',
    isRead,
    run: () => void run(),
  })
  return true
}

const executed: ReadonlySet<RequestFault> = new Set([
  'the response is lost',
  'no response',
  'the provider is down and does it',
  'an unreadable response',
])

const json = { 'content-type': 'application/json' }
const down: Response = { status: 503, headers: { 'content-type': 'text/html' }, text: '<h1>Out of order</h1>' }
const faulty: Partial<Record<RequestFault, Response>> & { readonly throttled: Response } = {
  throttled: { status: 429, headers: json, text: '{"error":{"type":"rate_limit"},"name":"RATE_LIMIT_REACHED"}' },
  'the provider is down and does nothing': down,
  'the provider is down and does it': down,
  'an unreadable response': { status: 200, headers: json, text: '{"half":' },
}

/** Access tokens and verifications of PayPal. */
const changesNothing = /oauth2\/token|verify-webhook-signature/

/** A path without ids. */
const shape = (path: string) => path.replace(/\?.*/, '').replaceAll(/\/(?=[^/]*[0-9A-Z])(?!v\d)[^/]{6,}/g, '/{id}')

export const countAnswer = (answer: string) => void answers.set(answer, (answers.get(answer) ?? 0) + 1)
