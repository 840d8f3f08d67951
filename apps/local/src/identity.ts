// The sandbox identity backend as a process. It accepts the demo users and guests only.
import { once } from 'node:events'
import { createSandboxIdentity, demoGuestTokens, demoSessions } from '@paylog/identity/sandboxIdentity'
import { loadConfig } from '@paylog/runtime/config/environment'
import { port, text } from '@paylog/runtime/config/kinds'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'

runApp('identity', async ({ lifecycle }) => {
  const config = loadConfig(Type.Object({ HOST: text('127.0.0.1'), PORT: port() }))
  const server = createSandboxIdentity({ sessions: demoSessions, guestTokens: demoGuestTokens, now: Date.now })
  server.listen(config.PORT, config.HOST)
  await once(server, 'listening')
  lifecycle.add('http', () => {
    server.close()
    server.closeAllConnections()
  })
})
