// Routes that return the caller, served on a port, with an identity backend over HTTP.
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { configuredIdentity, type EmailOfToken } from '@paylog/identity/identity'
import { createCallers } from '@paylog/runtime/http/callers'
import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Test } from 'tap'

export const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const
export type Verb = (typeof verbs)[number]

/** `headers` alternate names and values, so that a name can be repeated. */
export type CallerRequest = { readonly method?: Verb; readonly path: string; readonly headers?: readonly string[] }
export type CallerResponse = { readonly status: number; readonly body: string }

/**
 * `/anyone`, `/known` and `/remembered` accept every verb and return the caller, each with the hook of that name.
 * @param options `emailOf` looks up remembered guest tokens; none are remembered by default
 */
export async function callersHarness(
  t: Test,
  options: {
    readonly authUrl: string
    readonly adminUserTypes?: readonly string[]
    readonly emailOf?: EmailOfToken
  },
) {
  const { authUrl, adminUserTypes = ['admin'] } = options
  const identity = configuredIdentity({
    AUTH_URL: authUrl,
    AUTH_SERVICE: 'payments',
    ADMIN_USER_TYPES: adminUserTypes,
  })
  const { emailOf = async () => undefined } = options
  const callers = createCallers(identity.actorOf, identity.actorOrRemembered(emailOf))
  const logged: string[] = []
  const destination = { write: (line: string) => void logged.push(line) }
  const http = createHttp({ log: createLog({ app: 'test', level: 'trace' }, destination) })
  const hooks = { anyone: callers.anyone, known: callers.sessionOrGuest, remembered: callers.sessionOrRememberedGuest }
  for (const [name, onRequest] of Object.entries(hooks))
    http.route({ method: [...verbs], url: `/${name}`, onRequest, handler: async ({ actor }) => actor })
  const origin = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  const agent = new Agent({ keepAlive: true })
  t.teardown(async () => {
    agent.destroy()
    await http.close()
    await identity.close()
  })
  return {
    /** Every log line, from level `trace`. */
    logged,
    send: ({ method = 'GET', path, headers = [] }: CallerRequest): Promise<CallerResponse> =>
      new Promise((resolve, reject) => {
        const always = ['Host', origin.host, 'Content-Length', '0']
        const options = {
          host: origin.hostname,
          port: origin.port,
          agent,
          method,
          path,
          headers: [...always, ...headers],
        }
        request(options, (response) => {
          text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
        })
          .on('error', reject)
          .end()
      }),
  }
}
