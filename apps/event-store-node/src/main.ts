// The process.
import { loadConfig, port, text, url } from '@paylog/runtime/config'
import { runApp } from '@paylog/runtime/lifecycle'
import { Type } from 'typebox'
import { startNode } from './node.ts'

runApp('event-store-node', async ({ log, lifecycle }) => {
  const config = loadConfig(
    Type.Object({
      HOST: text('127.0.0.1'),
      PORT: port(2113),
      DATABASE_URL: url(['postgres', 'postgresql']),
    }),
  )
  const node = await startNode({
    host: config.HOST,
    port: config.PORT,
    databaseUrl: config.DATABASE_URL,
    log,
    fail: lifecycle.fail,
  })
  lifecycle.add('event-store-node', node.stop)
  return { port: node.port }
})
