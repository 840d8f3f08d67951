// Sends the requests that the document has as examples, one caller's after the other's, as a client does who reads it.
import { randomUUID } from 'node:crypto'
import { type ReceivedResponse, examplesOf, type Parameter, type Route } from './describedRoutes.ts'

export type Caller = {
  readonly name: string
  /** The security scheme; undefined for who has no credential. */
  readonly scheme: 'session' | 'guest' | undefined
  readonly headers: Readonly<Record<string, string>>
}

export type Sent = {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly query?: string
}
export type Send = (route: Route, caller: Caller, id: string | undefined, sent?: Sent) => Promise<ReceivedResponse>

export const sender =
  (baseUrl: string): Send =>
  async ({ method, path }, caller, id, { headers = {}, body, query = '' } = {}) => {
    const url = `${baseUrl}${path.replace('{id}', id ?? 'no-id')}${query}`
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url, {
      method,
      headers: { ...type, ...caller.headers, ...headers },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(30_000),
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? await response.json() : await response.text(),
    }
  }

/** Whether a route says that it is for such a caller; one without security is for nobody in particular. */
export function isFor({ security }: Route, { scheme }: Caller): boolean {
  if (security === undefined) return scheme === undefined
  return security.some((asked) => (scheme === undefined ? Object.keys(asked).length === 0 : scheme in asked))
}

export const idOf = ({ body }: ReceivedResponse): string | undefined => {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
  return typeof data === 'object' && data !== null && 'id' in data ? String(data.id) : undefined
}

/** The texts of all examples of a body; one undefined for a route without. */
export function bodiesOf({ requestBody }: Route): readonly (string | undefined)[] {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(examplesOf)
  return bodies.length === 0 ? [undefined] : bodies.map((body) => JSON.stringify(body))
}

/** Queries with one parameter each, with a value that its description allows. */
export function queriesOf({ parameters = [] }: Route): readonly string[] {
  const inQuery = parameters.filter(({ in: where, name }) => where === 'query' && name !== 'token')
  return inQuery.flatMap((parameter) =>
    valuesOf(parameter).map((value) => `?${parameter.name}=${encodeURIComponent(String(value))}`),
  )
}

function valuesOf({ example, schema }: Parameter): readonly unknown[] {
  if (example !== undefined) return [example]
  if (schema.enum) return schema.enum
  if (schema.format === 'date-time') return [new Date().toISOString()]
  return [schema.type === 'integer' ? (schema.minimum ?? 1) : 'example']
}

/** A request that creates something, and the same once more. */
export const repeatable = (route: Route): Readonly<Record<string, string>> =>
  route.parameters?.some(({ name }) => name === 'idempotency-key') ? { 'idempotency-key': randomUUID() } : {}
