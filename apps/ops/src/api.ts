// Calls routes of the API in this process, as the operator: what a command does is what the route does.
import type { FastifyPluginAsync, HTTPMethods } from 'fastify'
import type { RecordAction } from './auditTrail.ts'
import type { System } from './system.ts'

export type Sent = { readonly body?: object; readonly headers?: Readonly<Record<string, string>> }

/**
 * Calls a route, such as `POST /payments/:id/refunds`.
 * @returns `data` of the response
 * @throws the error of the route, as it was thrown: DomainError, and errors of Postgres and of the log
 */
export type Call = <Data>(method: 'GET' | 'POST', path: string, sent?: Sent) => Promise<Data>

/** @param record writes the entries of the audit trail, with the operator and the reason of the command */
export const createApi =
  (open: System, record: RecordAction) =>
  async (...plugins: readonly FastifyPluginAsync[]): Promise<Call> => {
    const { createHttp } = await import('@paylog/runtime/http/http')
    const { createCallers } = await import('@paylog/runtime/http/callers')
    const { guardRoutes } = await import('@paylog/runtime/http/guardRoutes')
    const { metadataOf } = await import('@paylog/commands/request/requestContext')
    const http = createHttp({ log: open.log })
    open.defer(() => http.close())
    const callers = createCallers(async () => ({ kind: 'operator' }))
    guardRoutes(http, callers, (request, action) => record(action, metadataOf(request)))
    const failures = new Map<string, unknown>()
    // The response has less than the error: a failed connection is an internal error there.
    http.addHook('onError', async ({ id }, _reply, error) => void failures.set(id, error))
    for (const plugin of plugins) await http.register(plugin)
    return async (method: HTTPMethods, url, { body, headers } = {}) => {
      const response = await http.inject({ method, url, headers: { ...headers }, ...(body && { payload: body }) })
      const failure = failures.get(String(response.headers['x-request-id']))
      if (failure !== undefined) throw failure
      return response.json().data
    }
  }
