// Running handlers: how long each may take, and waiting for them when the server closes.
import { DomainError } from '@paylog/domain/errors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the handler may take; the default suits one provider call with its retries. */
    handlerTimeoutMs?: number
  }
}

/** Longer than a provider call with two retries in one request. */
const defaultTimeoutMs = 45_000
const checkMs = 1_000

type RunningHandler = {
  readonly request: FastifyRequest
  readonly giveUpAt: number
  readonly result: Promise<unknown>
  /** Responds with an error. The handler runs on, because it must record what it has started elsewhere. */
  readonly giveUp: (error: DomainError) => void
}

const running = new WeakMap<FastifyInstance, ReadonlySet<RunningHandler>>()

/** The requests whose handlers have not ended, for the log: method, route and request id. */
export function requestsInFlight(http: FastifyInstance): readonly string[] {
  return [...(running.get(http) ?? [])].map(
    ({ request }) => `${request.method} ${request.routeOptions.url ?? ''} ${request.id}`,
  )
}

/**
 * Limits the time of each handler: after it the response is 503 `service_unavailable`. One timer for all, because one for
 * each request, or Fastify's own limit with an AbortController each, takes 2 to 3 % of the CPU of a write.
 *
 * Must be called before routes are registered.
 * @returns a function that waits until no handler runs
 */
export function watchHandlers(http: FastifyInstance): () => Promise<void> {
  const handlers = new Set<RunningHandler>()
  running.set(http, handlers)
  const check = setInterval(() => {
    const now = performance.now()
    for (const { giveUpAt, giveUp } of handlers) if (giveUpAt <= now) giveUp(timeoutError())
  }, checkMs).unref()
  http.addHook('onRoute', (route) => {
    const { handler, config } = route
    const timeoutMs = config?.handlerTimeoutMs ?? defaultTimeoutMs
    route.handler = function watched(request, reply) {
      const result: unknown = handler.call(this, request, reply)
      if (!(result instanceof Promise)) return result
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const own = { request, giveUpAt: performance.now() + timeoutMs, result, giveUp: reject }
      handlers.add(own)
      const ended = () => handlers.delete(own)
      result.then(resolve, reject).then(ended, ended)
      return promise
    }
  })
  return async () => {
    while (handlers.size > 0) await Promise.allSettled([...handlers].map(({ result }) => result))
    clearInterval(check)
  }
}

/** With a cause, because it is a failure of ours, unlike the rejections of an overloaded process. */
const timeoutError = () =>
  new DomainError('service_unavailable', 'The request took too long', undefined, {
    cause: new Error('Handler timeout'),
  })
