// The one address of the JSON API: who is calling, whether the members stand in their order, and the answer's odd form.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { FaultPlan } from '../fakeProvider.ts'
import { CallRefused } from './callRefused.ts'
import { toJson } from './decimals.ts'
import { problemOf } from './requestSchema.ts'

export type RecordedCall = {
  /** Without `Request`. */
  readonly method: string
  readonly request: Readonly<Record<string, unknown>>
}

/** What a method does with its request; it throws CallRefused. */
export type Method = {
  readonly changes: boolean
  readonly act: (request: Readonly<Record<string, unknown>>) => object
}

export type Exchange = {
  readonly methods: Readonly<Record<string, Method>>
  readonly login: { readonly name: string; readonly transactionKey: string }
  /** For calls that change something, and for those that only read. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  /** What the next calls are refused with; one with a method waits for a call of that method. */
  readonly refusals: { readonly code: string; readonly text: string; readonly method: string | undefined }[]
  readonly calls: RecordedCall[]
  readonly now: () => number
  /** The real one begins every answer with one. */
  readonly byteOrderMark: boolean
}

export async function answer(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('date', new Date(exchange.now()).toUTCString())
  if (request.method !== 'POST' || request.url !== '/xml/v1/request.api') {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    return
  }
  const call = parse(await text(request))
  const method = call && exchange.methods[call.method]
  if (call) exchange.calls.push(call)
  const plan = method && !method.changes ? exchange.readFaults : exchange.faults
  await plan.play(
    response,
    () => outcome(exchange, call, method),
    (result) => {
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end((exchange.byteOrderMark ? '\ufeff' : '') + toJson(result))
    },
  )
}

function outcome(exchange: Exchange, call: RecordedCall | undefined, method: Method | undefined): object {
  try {
    return messages('Ok', 'I00001', 'Successful.', act(exchange, call, method))
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error
    return messages('Error', error.code, error.message, error.members)
  }
}

function act(exchange: Exchange, call: RecordedCall | undefined, method: Method | undefined): object {
  if (!call) throw new CallRefused('E00003', 'Root element is missing.')
  const problem = problemOf(`${call.method}Request`, call.request)
  if (problem === null || !method) throw new CallRefused('E00004', 'The name of the requested API method is invalid.')
  if (problem !== undefined) throw new CallRefused('E00003', problem)
  const { name, transactionKey } = exchange.login
  const given = call.request.merchantAuthentication
  if (JSON.stringify(given) !== JSON.stringify({ name, transactionKey }))
    throw new CallRefused('E00007', 'User authentication failed due to invalid authentication values.')
  const index = exchange.refusals.findIndex((refusal) => (refusal.method ?? call.method) === call.method)
  const [refusal] = index === -1 ? [] : exchange.refusals.splice(index, 1)
  if (refusal) throw new CallRefused(refusal.code, refusal.text)
  const { refId } = call.request
  return { ...method.act(call.request), ...(refId === undefined ? {} : { refId }) }
}

function messages(resultCode: 'Ok' | 'Error', code: string, text: string, members: object) {
  return { ...members, messages: { resultCode, message: [{ code, text }] } }
}

function parse(body: string): RecordedCall | undefined {
  try {
    const [entry] = Object.entries(JSON.parse(body) as Record<string, RecordedCall['request']>)
    return entry && { method: entry[0].replace(/Request$/, ''), request: entry[1] }
  } catch {
    return undefined
  }
}
