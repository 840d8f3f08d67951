// The one address of the JSON API: who is calling, whether the members stand in their order, and the answer's odd form.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { FaultPlan } from '../fakeProvider.ts'
import { AuthorizeNetApiError } from './callRefused.ts'
import { toJson } from './decimals.ts'
import { problemOf } from './requestSchema.ts'

export type AuthorizeNetCall = {
  /** Without `Request`. */
  readonly method: string
  readonly request: Readonly<Record<string, unknown>>
}

/** What a method does with its request; it throws CallRefused. */
export type ApiMethod = {
  readonly changes: boolean
  readonly act: (request: Readonly<Record<string, unknown>>) => object
}

export type FakeServer = {
  readonly methods: Readonly<Record<string, ApiMethod>>
  readonly login: { readonly name: string; readonly transactionKey: string }
  /** For calls that change something, and for those that only read. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  /** What the next calls are refused with; one with a method waits for a call of that method. */
  readonly plannedErrors: { readonly code: string; readonly text: string; readonly method: string | undefined }[]
  readonly calls: AuthorizeNetCall[]
  readonly now: () => number
  /** The real one begins every answer with one. */
  readonly byteOrderMark: boolean
}

export async function respond(server: FakeServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('date', new Date(server.now()).toUTCString())
  if (request.method !== 'POST' || request.url !== '/xml/v1/request.api') {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    return
  }
  const call = parse(await text(request))
  const method = call && server.methods[call.method]
  if (call) server.calls.push(call)
  const plan = method && !method.changes ? server.readFaults : server.faults
  await plan.play(
    response,
    () => resultOf(server, call, method),
    (result) => {
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end((server.byteOrderMark ? '\ufeff' : '') + toJson(result))
    },
  )
}

function resultOf(server: FakeServer, call: AuthorizeNetCall | undefined, method: ApiMethod | undefined): object {
  try {
    return messages('Ok', 'I00001', 'Successful.', perform(server, call, method))
  } catch (error) {
    if (!(error instanceof AuthorizeNetApiError)) throw error
    return messages('Error', error.code, error.message, error.members)
  }
}

function perform(server: FakeServer, call: AuthorizeNetCall | undefined, method: ApiMethod | undefined): object {
  if (!call) throw new AuthorizeNetApiError('E00003', 'Root element is missing.')
  const problem = problemOf(`${call.method}Request`, call.request)
  if (problem === null || !method)
    throw new AuthorizeNetApiError('E00004', 'The name of the requested API method is invalid.')
  if (problem !== undefined) throw new AuthorizeNetApiError('E00003', problem)
  const { name, transactionKey } = server.login
  const given = call.request.merchantAuthentication
  if (JSON.stringify(given) !== JSON.stringify({ name, transactionKey }))
    throw new AuthorizeNetApiError('E00007', 'User authentication failed due to invalid authentication values.')
  const index = server.plannedErrors.findIndex((planned) => (planned.method ?? call.method) === call.method)
  const [planned] = index === -1 ? [] : server.plannedErrors.splice(index, 1)
  if (planned) throw new AuthorizeNetApiError(planned.code, planned.text)
  const { refId } = call.request
  return { ...method.act(call.request), ...(refId === undefined ? {} : { refId }) }
}

function messages(resultCode: 'Ok' | 'Error', code: string, text: string, members: object) {
  return { ...members, messages: { resultCode, message: [{ code, text }] } }
}

function parse(body: string): AuthorizeNetCall | undefined {
  try {
    const [entry] = Object.entries(JSON.parse(body) as Record<string, AuthorizeNetCall['request']>)
    return entry && { method: entry[0].replace(/Request$/, ''), request: entry[1] }
  } catch {
    return undefined
  }
}
