// Liveness and readiness checks for an orchestrator.
import type { FastifyPluginAsync } from 'fastify'
import { isClosing } from '../http/draining.ts'
import { livenessSchema, readinessSchema } from '../http/openApiSchemas.ts'
import type { Logger } from '../telemetry/log.ts'

const checkTimeoutMs = 2_000

export type CheckDetails = object & { readonly ok?: false }

/** The results of all checks, by name. */
export type Readiness = {
  readonly status: 'ready' | 'unavailable'
  readonly checks: Readonly<Record<string, object>>
}

export type Health = {
  /**
   * Adds a dependency to readiness. The check resolves with details to show, or throws when the dependency is unavailable.
   * A failed check that has details resolves with `ok: false` among them.
   */
  check(name: string, run: () => Promise<CheckDetails>): void
  /** Runs every check, or returns the results of a run within the last second. @param log gets the reasons of failures */
  readiness(log: Pick<Logger, 'warn'>): Promise<Readiness>
  readonly plugin: FastifyPluginAsync
}

/**
 * `GET /health/live` returns 200 while the process runs; `GET /health/ready` runs every check, at most two seconds each,
 * and returns 503 when one fails. The reason is logged only, because the endpoint needs no credential. While the server
 * closes, it returns 503 without running checks.
 * @param options `resultAgeMs`: requests within this time share a result, because checks put load on dependencies
 */
export function createHealth({ resultAgeMs = 1_000 } = {}): Health {
  const checks = new Map<string, () => Promise<CheckDetails>>()
  const failing = new Set<string>()
  let latest: { readonly at: number; readonly results: ReturnType<typeof runChecks> } | undefined

  /** Once for each failure, however often it is asked for. */
  function report(name: string, log: Pick<Logger, 'warn'>, detail: object | undefined): void {
    if (detail === undefined) failing.delete(name)
    else if (!failing.has(name)) log.warn({ check: name, ...detail }, 'not ready')
    if (detail !== undefined) failing.add(name)
  }

  async function runChecks(log: Pick<Logger, 'warn'>) {
    return await Promise.all(
      [...checks].map(async ([name, run]) => {
        try {
          const result = { ok: true, ...(await withTimeout(run())) }
          report(name, log, result.ok ? undefined : result)
          return [name, result] as const
        } catch (error) {
          report(name, log, { err: error })
          return [name, { ok: false }] as const
        }
      }),
    )
  }

  async function readiness(log: Pick<Logger, 'warn'>): Promise<Readiness> {
    if (latest === undefined || performance.now() - latest.at > resultAgeMs)
      latest = { at: performance.now(), results: runChecks(log) }
    const results = await latest.results
    const isReady = results.every(([, { ok }]) => ok)
    return { status: isReady ? 'ready' : 'unavailable', checks: Object.fromEntries(results) }
  }

  return {
    check(name, run) {
      checks.set(name, run)
    },
    readiness,
    plugin: async (http) => {
      http.get('/health/live', { schema: livenessSchema }, async () => ({ status: 'live' }))
      http.get(
        '/health/ready',
        { config: { isForOperators: true }, schema: readinessSchema },
        async (request, reply) => {
          if (isClosing(http)) {
            reply.code(503)
            return { status: 'stopping', checks: {} }
          }
          const result = await readiness(request.log)
          reply.code(result.status === 'ready' ? 200 : 503)
          return result
        },
      )
    },
  }
}

function withTimeout(check: Promise<CheckDetails>): Promise<CheckDetails> {
  const { promise, resolve, reject } = Promise.withResolvers<CheckDetails>()
  const timeout = setTimeout(() => reject(new Error(`no response within ${checkTimeoutMs} ms`)), checkTimeoutMs)
  check.then(resolve, reject).finally(() => clearTimeout(timeout))
  return promise
}
