// Reads the Kubernetes manifests through kubectl.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as apps from 'kubernetes-models/apps/v1'
import * as batch from 'kubernetes-models/batch/v1'
import * as networking from 'kubernetes-models/networking.k8s.io/v1'
import * as policy from 'kubernetes-models/policy/v1'
import * as core from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { type ComposeService, root } from './composeFile.ts'

const run = promisify(execFile)

export type Labels = Readonly<Record<string, string>>
export type Selector = {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
}
type Port = { readonly name?: string; readonly containerPort: number }
type Probe = {
  readonly httpGet?: { readonly path: string; readonly port: string }
  readonly exec?: { readonly command: readonly string[] }
  readonly tcpSocket?: { readonly port: string }
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly failureThreshold: number
}
export type SecurityContext = {
  readonly allowPrivilegeEscalation?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] }
}
type KeyRef = { readonly name: string; readonly key: string }
export type Container = {
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly configMapKeyRef: KeyRef }
  }[]
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  readonly ports?: readonly Port[]
  readonly startupProbe?: Probe
  readonly readinessProbe?: Probe
  readonly livenessProbe?: Probe
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>
    readonly limits: Readonly<Record<string, string>>
  }
  readonly securityContext: SecurityContext
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
}
type Volume = {
  readonly name: string
  readonly configMap?: { readonly name: string }
  readonly secret?: {
    readonly secretName: string
    readonly optional?: boolean
    readonly items?: readonly { readonly key: string; readonly path: string }[]
  }
}
type PodSpec = {
  readonly containers: readonly [Container]
  readonly volumes: readonly Volume[]
  readonly terminationGracePeriodSeconds: number
  readonly topologySpreadConstraints?: readonly { readonly labelSelector: Selector }[]
}
type Peers = readonly {
  readonly podSelector?: Selector
  readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] }
}[]
type Ports = readonly { readonly port: number; readonly protocol?: string }[]
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly replicas?: number
    readonly strategy?: { readonly type?: string }
    readonly serviceName?: string
    readonly selector?: Labels & Selector
    readonly ports?: readonly { readonly port: number; readonly targetPort: string; readonly name: string }[]
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    readonly podSelector?: Selector
    readonly policyTypes?: readonly string[]
    readonly ingress?: readonly { readonly from?: Peers; readonly ports?: Ports }[]
    readonly egress?: readonly { readonly to?: Peers; readonly ports?: Ports }[]
    readonly rules?: readonly unknown[]
  }
}

export type Form = 'base' | 'small' | 'large' | 'example'

const known = new Map<Form, Promise<readonly Manifest[]>>()

/** @throws when kubectl rejects the kustomization */
export function readManifests(form: Form): Promise<readonly Manifest[]> {
  const manifests = known.get(form) ?? render(form)
  known.set(form, manifests)
  return manifests
}

async function render(form: Form): Promise<readonly Manifest[]> {
  const { stdout } = await run('kubectl', ['kustomize', join(root, 'deploy/kubernetes', form)])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

/** The only pod of a workload. */
export type Pod = {
  readonly name: string
  readonly labels: Labels
  readonly replicas: number
  readonly spec: PodSpec
  readonly container: Container
  /** What its container gets, from the settings too. */
  readonly environment: Readonly<Record<string, string>>
  /** The secrets of each directory, by the keys in it, or by its name where all are in it. */
  readonly secrets: Readonly<Record<string, readonly string[]>>
}

/** The pods of the workloads, by the workload's name. */
export function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, Pod> {
  const dataOf = (name: string) =>
    manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.data ?? {}
  const pods = manifests.flatMap(({ metadata: { name }, spec }) => {
    if (spec?.template === undefined) return []
    const { template, replicas = 1 } = spec
    const [container] = template.spec.containers
    const environment = Object.fromEntries([
      ...(container.envFrom ?? []).flatMap(({ configMapRef }) => Object.entries(dataOf(configMapRef.name))),
      ...(container.env ?? []).map(({ name, value, valueFrom }) => {
        const { name: map = '', key = '' } = valueFrom?.configMapKeyRef ?? {}
        return [name, value ?? dataOf(map)[key] ?? '']
      }),
    ])
    const secrets = Object.fromEntries(
      template.spec.volumes.flatMap(({ name, secret }) => {
        const directory = container.volumeMounts.find((mount) => mount.name === name)?.mountPath ?? ''
        if (secret === undefined) return []
        return [[directory, secret.items?.map(({ key }) => key) ?? [secret.secretName]] as const]
      }),
    )
    const { labels } = template.metadata
    return [[name, { name, labels, replicas, spec: template.spec, container, environment, secrets }] as const]
  })
  return new Map(pods)
}

/**
 * The pods as services of a compose file, to run them without a cluster.
 * @param settings of the operator
 */
export function servicesOfPods(
  pods: ReadonlyMap<string, Pod>,
  settings: Readonly<Record<string, string>>,
): Readonly<Record<string, ComposeService>> {
  const isJob = (name: string) => name === 'migrate'
  const services = [...pods.values()].map(({ name, container, environment }): readonly [string, ComposeService] => {
    const { image, args, readinessProbe } = container
    const needed = isJob(name) || name === 'postgres' ? {} : { migrate: completed }
    const service = { image, ...(args && { command: args }), environment: { ...settings, ...environment } }
    return [
      name,
      { ...service, depends_on: needed, ...(readinessProbe && { healthcheck: healthCheckOf(readinessProbe) }) },
    ]
  })
  return Object.fromEntries(services)
}

const completed = { condition: 'service_completed_successfully' }

function healthCheckOf({ httpGet, exec, ...times }: Probe) {
  const script = `fetch('http://127.0.0.1:8080${httpGet?.path}').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`
  // An open port is waited for anyway.
  const words = httpGet === undefined ? (exec?.command ?? ['true']) : ['node', '-e', script]
  const { periodSeconds, timeoutSeconds, failureThreshold: retries } = times
  return { test: ['CMD', ...words], interval: `${periodSeconds}s`, timeout: `${timeoutSeconds}s`, retries }
}

export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  )
}

const models: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  v1: core,
  'apps/v1': apps,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
}
type Model = { readonly prototype: { validate(): void } }
const isModel = (model: unknown): model is Model => typeof model === 'function'

/**
 * Compares a manifest with the schema of its kind.
 * @returns the paths of fields that the schema does not have
 * @throws when a field has another type, or is missing
 */
export function unknownFields(manifest: Manifest): readonly string[] {
  const model = models[manifest.apiVersion]?.[manifest.kind]
  if (!isModel(model)) throw new Error(`there is no ${manifest.kind} in ${manifest.apiVersion}`)
  const read = new Set<string>()
  Reflect.apply(model.prototype.validate, watched(manifest, '', read), [])
  return pathsOf(manifest, '').filter((path) => !read.has(path))
}

/** The schemas are compiled, and let unknown fields pass. They read every field that they know. */
function watched<Value extends object>(value: Value, prefix: string, read: Set<string>): Value {
  return new Proxy(value, {
    get(target, key) {
      const path = `${prefix}${String(key)}`
      read.add(path)
      const field: unknown = Reflect.get(target, key)
      return typeof field === 'object' && field !== null ? watched(field, `${path}.`, read) : field
    },
  })
}

function pathsOf(value: unknown, prefix: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, field]) => [`${prefix}${key}`, ...pathsOf(field, `${prefix}${key}.`)])
}
