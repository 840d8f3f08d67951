// Sends traces to a collector, if one is configured.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { type StaticDecode, Type } from 'typebox'
import { ConfigError, loadConfig } from '../config/environment.ts'
import { bool, oneOf, text, url } from '../config/kinds.ts'
import type { Logger } from './log.ts'

/** The SDK itself reads all other OpenTelemetry variables (sampler, batches, timeout, certificates). */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(url(['http', 'https'])),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Type.Optional(url(['http', 'https'])),
  /** `name=value`, comma-separated, percent-encoded; usually a collector's key. */
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(text()),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Optional(oneOf(['http/json', 'http/protobuf'])),
  OTEL_SDK_DISABLED: bool(false),
}
const TracingConfig = Type.Object(tracingVariables)
type TracingConfig = Readonly<StaticDecode<typeof TracingConfig>>

/** Limits how long an unresponsive collector delays a stop. */
const flushTimeoutMs = 3_000
const warningIntervalMs = 60_000

/**
 * Starts sending traces when `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise nothing is loaded, and spans cost nothing. An
 * unavailable collector does no harm: spans wait in a bounded queue, are dropped beyond it, and a warning is logged once a
 * minute.
 *
 * @param app the service name is `paylog-<app>`, unless `OTEL_SERVICE_NAME` is set
 * @returns a function that sends the remaining spans, for at most 3 s, and stops; undefined when tracing is off
 * @throws ConfigError for an invalid endpoint
 */
export async function startTracing(app: string, log: Pick<Logger, 'warn'>): Promise<(() => Promise<void>) | undefined> {
  const config = loadConfig(TracingConfig)
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = config
  if (endpoint === undefined || isDisabled) return undefined
  const headers = headersIn(config.OTEL_EXPORTER_OTLP_HEADERS)
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const reportFailure = throttled((reason) => log.warn({ reason }, 'traces are not sent, or only partly'))
  diag.setLogger(configurationLogger(log), DiagLogLevel.WARN)
  const exporter = new OTLPTraceExporter({ url: urlOf(endpoint, config), headers })
  const provider = new NodeTracerProvider({
    // Last, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': `paylog-${app}` }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportFailures(exporter, reportFailure))],
  })
  diag.setLogger(droppedSpanLogger(reportFailure), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  provider.register()
  return async () => {
    const ended = provider.shutdown().catch(() => undefined)
    await Promise.race([ended, sleep(flushTimeoutMs, undefined, { ref: false })])
  }
}

/** By the exporter specification, the general endpoint is a base URL, and the one for traces a full URL. */
function urlOf(endpoint: string, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces }: TracingConfig): string {
  return traces ?? `${endpoint.replace(/\/$/, '')}/v1/traces`
}

function headersIn(given: string | undefined): Record<string, string> {
  try {
    const pairs = (given ?? '').split(',').filter((pair) => pair.trim() !== '')
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair) ?? []
        if (name === undefined || value === undefined) throw new URIError('invalid header')
        return [name, decodeURIComponent(value.trim())]
      }),
    )
  } catch {
    throw new ConfigError(['OTEL_EXPORTER_OTLP_HEADERS must be headers such as x-key=abc,x-tenant=shop'])
  }
}

type Exporter = Pick<OTLPTraceExporter, 'export' | 'shutdown' | 'forceFlush'>

/** Logs the error code only: the collector's response may quote the key that it was sent. */
function reportFailures(exporter: OTLPTraceExporter, reportFailure: (reason: string) => void): Exporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) reportFailure(reasonOf(result.error))
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

const reasonOf = (error: Error) => ('code' in error && error.code !== undefined ? String(error.code) : error.name)

function throttled(warn: (reason: string) => void): (reason: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return (reason) => {
    if (performance.now() - warnedAt < warningIntervalMs) return
    warnedAt = performance.now()
    warn(reason)
  }
}

const silent = () => undefined

/** Logs the SDK's warnings about its variables at start; it then uses the defaults. */
function configurationLogger(log: Pick<Logger, 'warn'>): DiagLogger {
  const logProblem = (problem: string) => log.warn({ problem }, 'invalid tracing configuration')
  return { error: logProblem, warn: logProblem, info: silent, debug: silent, verbose: silent }
}

/** Reports dropped spans only; other messages repeat errors of exports. */
function droppedSpanLogger(reportFailure: (reason: string) => void): DiagLogger {
  const warn = (message: string) => {
    if (message.startsWith('Dropped ')) reportFailure(message)
  }
  return { error: silent, warn, info: silent, debug: silent, verbose: silent }
}
