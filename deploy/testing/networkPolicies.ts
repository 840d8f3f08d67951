// What the network policies let through.
import { type Labels, type Manifest, type Pod, type Selector, selects } from './manifests.ts'

type Rule = {
  readonly peers?: readonly { readonly podSelector?: Selector; readonly ipBlock?: object }[]
  readonly ports?: readonly { readonly port: number }[]
}

/** The rules that apply to a pod in one direction. */
function rulesFor(manifests: readonly Manifest[], labels: Labels, direction: 'Ingress' | 'Egress'): readonly Rule[] {
  return manifests.flatMap(({ kind, spec }): readonly Rule[] => {
    const { podSelector = {}, policyTypes = [], ingress = [], egress = [] } = spec ?? {}
    if (kind !== 'NetworkPolicy' || !policyTypes.includes(direction) || !selects(podSelector, labels)) return []
    const rules = direction === 'Ingress' ? ingress.map(({ from, ports }) => ({ peers: from, ports })) : []
    const others = direction === 'Egress' ? egress.map(({ to, ports }) => ({ peers: to, ports })) : []
    return [...rules, ...others].map(({ peers, ports }) => ({ ...(peers && { peers }), ...(ports && { ports }) }))
  })
}

const allows = ({ peers, ports }: Rule, labels: Labels, port: number) =>
  (ports?.some((one) => one.port === port) ?? true) &&
  (peers?.some(({ podSelector }) => podSelector !== undefined && selects(podSelector, labels)) ?? true)

/**
 * Whether a pod may connect to another: in both directions, or at least as far as the other one says. Ranges of addresses
 * are not counted, because some network plugins do not apply them to pods.
 */
export function mayConnect(manifests: readonly Manifest[], from: Pod, to: Pod, port: number) {
  const leaves = rulesFor(manifests, from.labels, 'Egress').some((rule) => allows(rule, to.labels, port))
  const enters = rulesFor(manifests, to.labels, 'Ingress').some((rule) => allows(rule, from.labels, port))
  return { connects: leaves && enters, enters }
}

/** Whether a pod may connect to addresses outside of the cluster. */
export function mayLeave(manifests: readonly Manifest[], { labels }: Pod): boolean {
  return rulesFor(manifests, labels, 'Egress').some(({ peers = [] }) => peers.some(({ ipBlock }) => ipBlock))
}
