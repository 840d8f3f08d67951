// The write side as a process of its own.
// biome-ignore-all lint/style/noProcessEnv: the webhook nodes have no fixed list of variables, so all of them are handed over.
import { port, text } from '@paylog/runtime/config'
import { createHealth } from '@paylog/runtime/health'
import { createHttp } from '@paylog/runtime/http'
import { runApp } from '@paylog/runtime/lifecycle'
import { createMetrics } from '@paylog/runtime/metrics'
import { Type } from 'typebox'
import { commandVariables, loadWithNodes } from './config.ts'
import { wireCommandApi } from './wiring.ts'

const Config = Type.Object({ HOST: text('127.0.0.1'), PORT: port(8080), ...commandVariables })

runApp('command-api', async ({ log, lifecycle }) => {
  const config = loadWithNodes(Config, process.env)
  const health = createHealth()
  const api = await wireCommandApi(config, { lifecycle, health })
  const http = createHttp({ log })
  await http.register(api)
  await http.register(health.plugin)
  await http.register(createMetrics().plugin)
  lifecycle.add('http', () => http.close())
  return { url: await http.listen({ host: config.HOST, port: config.PORT }) }
})
