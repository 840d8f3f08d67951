// The minimal service for comparison: for each query a Fastify route that validates the session over HTTP, sends the same
// statement to the same Postgres, and serializes the rows with the same response schema.
import { readFileSync } from 'node:fs'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, text, url } from '@paylog/runtime/config/kinds'
import { createPool } from '@paylog/runtime/postgres/pool'
import { columnTypes } from '@paylog/runtime/postgres/runQuery'
import { runApp } from '@paylog/runtime/process/lifecycle'
import Fastify from 'fastify'
import { Type } from 'typebox'
import { Pool } from 'undici'

export type BareRoute = {
  /** The route of the API, such as `/payments/:id`. */
  readonly url: string
  readonly responses: object
  /** A response of the API. All but `data` is sent as it is. */
  readonly sample: { readonly data: object; readonly meta?: { readonly limit: number } }
  readonly statement: {
    readonly name?: string
    readonly text: string
    readonly values: readonly ('owner' | 'id' | { readonly value: unknown })[]
  }
}

/** As many as query-api has. */
const maxIdentityConnections = 64
const maxConnections = 16

type IdentityResponse = { readonly success?: boolean; readonly user?: { readonly id?: string } }
type Request = { readonly headers: { readonly authorization?: string }; readonly params: { readonly id?: string } }

runApp('bare-routes', async ({ log, lifecycle }) => {
  const config = loadConfig(
    Type.Object({
      PORT: port(),
      DATABASE_URL: url(['postgres', 'postgresql']),
      AUTH_URL: url(['http', 'https']),
      ROUTES_FILE: text(),
    }),
  )
  const pool = createPool({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'bare-routes',
    max: maxConnections,
    log,
  })
  lifecycle.add('postgres', () => pool.end())
  const identity = new Pool(config.AUTH_URL, { connections: maxIdentityConnections })
  lifecycle.add('identity', () => identity.close())

  async function userOf(authorization = ''): Promise<string | undefined> {
    const response = await identity.request({
      path: '/auth/payments/validate',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: authorization.replace(/^Bearer /, '') }),
    })
    const { success, user } = (await response.body.json()) as IdentityResponse
    return success === true ? user?.id : undefined
  }

  const http = Fastify()
  const routes = JSON.parse(readFileSync(config.ROUTES_FILE, 'utf8')) as readonly BareRoute[]
  for (const [index, { url: path, responses, sample, statement }] of routes.entries()) {
    const limit = sample.meta?.limit
    const schema = { response: responses }
    http.get<{ Params: Request['params'] }>(`/${index}${path}`, { schema }, async (request, reply) => {
      const user = await userOf(request.headers.authorization)
      if (user === undefined) return reply.code(401).send({ success: false })
      const values = statement.values.map((each) =>
        each === 'owner' ? `user:${user}` : each === 'id' ? request.params.id : each.value,
      )
      const { rows } = await pool.query({ ...statement, values, types: columnTypes })
      // The only column that has another name in the response.
      for (const row of rows) if ('provider_customer_id' in row) row.customer_id = row.provider_customer_id
      // A page by cursor reads one row more, to know whether there is a next page.
      return { ...sample, data: limit === undefined ? rows[0] : rows.slice(0, limit) }
    })
  }
  lifecycle.add('http', () => http.close())
  return { url: await http.listen({ port: config.PORT, host: '127.0.0.1' }) }
})
