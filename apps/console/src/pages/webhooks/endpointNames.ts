// Endpoints as people know them: by name, or else by the host of their address.
import { useQuery } from '@tanstack/react-query'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { endpointsQuery } from './webhookQueries.ts'

export type EndpointName = { readonly name: string; readonly url: string | null }

/** @returns the name and the address of an endpoint by its id; while they are not known, its number */
export function useEndpointNames(): (endpoint: string) => EndpointName {
  const { data } = useQuery({ ...endpointsQuery, refetchInterval: false })
  return (endpoint) => endpointName(endpoint, data?.data ?? [])
}

export function endpointName(endpoint: string, reports: readonly NamedEndpoint[]): EndpointName {
  const report = reports.find((each) => each.endpoint === endpoint)
  const url = report?.url ?? null
  return { name: report?.name ?? hostOf(url) ?? `endpoint ${endpoint}`, url }
}

/** An API without names has none. */
type NamedEndpoint = Pick<EndpointReport, 'endpoint' | 'url'> & { readonly name?: string | null }

function hostOf(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined
  return new URL(url).host
}
