// The minimal service for comparison: a Fastify route that validates a body and inserts one row durably.
import { randomUUID } from 'node:crypto'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, url } from '@paylog/runtime/config/kinds'
import { createPool } from '@paylog/runtime/postgres/pool'
import { runApp } from '@paylog/runtime/process/lifecycle'
import Fastify from 'fastify'
import { type Static, Type } from 'typebox'

/** More connections do not make Postgres faster. */
const maxConnections = 32

const OrderBody = Type.Object({
  total_cents: Type.Integer({ minimum: 1 }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
})

const text = `insert into public.bare_orders (id, total_cents, currency, status, payer, created_at, updated_at, reference, metadata)
values ($1, $2, $3, 'pending', $4, $5, $5, $6, $7)`

runApp('bare-route', async ({ log, lifecycle }) => {
  const config = loadConfig(Type.Object({ PORT: port(), DATABASE_URL: url(['postgres', 'postgresql']) }))
  const pool = createPool({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'bare-route',
    max: maxConnections,
    log,
  })
  lifecycle.add('postgres', () => pool.end())
  await pool.query(`create table public.bare_orders (
    id uuid primary key, total_cents bigint, currency text, status text, payer text,
    created_at timestamptz, updated_at timestamptz, reference text, metadata jsonb)`)
  const http = Fastify()
  http.post<{ Body: Static<typeof OrderBody> }>('/orders', { schema: { body: OrderBody } }, async (request, reply) => {
    const { total_cents, currency } = request.body
    const [id, at] = [randomUUID(), new Date()]
    const values = [id, total_cents, currency, 'somebody', at, `R-${id}`, '{}']
    await pool.query({ name: 'bare_order', text, values })
    return reply.code(201).send({ id, total_cents, currency, status: 'pending', created_at: at })
  })
  lifecycle.add('http', () => http.close())
  return { url: await http.listen({ port: config.PORT, host: '127.0.0.1' }) }
})
