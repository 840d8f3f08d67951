// The sandbox identity backend with a session of every owner in the tables. The last one is an administrator.
import { once } from 'node:events'
import { createSandboxIdentity } from '@paylog/identity/sandboxIdentity'
import { loadConfig } from '@paylog/runtime/config/environment'
import { integer, port } from '@paylog/runtime/config/kinds'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { sessionOf, userId } from './owners.ts'

runApp('identity', async ({ lifecycle }) => {
  const config = loadConfig(Type.Object({ PORT: port(), OWNERS: integer(1, 1_000_000) }))
  const sessions = Array.from({ length: config.OWNERS }, (_, index) => ({
    session_id: sessionOf(index + 1),
    user: {
      id: userId(index + 1),
      email: `user${index + 1}@example.com`,
      name: 'Some User',
      userType: index + 1 === config.OWNERS ? 'admin' : 'user',
    },
    expires_at: null,
  }))
  const server = createSandboxIdentity({ sessions, guestTokens: [], now: Date.now })
  server.listen(config.PORT, '127.0.0.1')
  await once(server, 'listening')
  lifecycle.add('http', () => {
    server.close()
    server.closeAllConnections()
  })
})
