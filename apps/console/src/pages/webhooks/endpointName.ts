// What people call an endpoint.
import { useQuery } from '@tanstack/react-query'
import type { EndpointReport } from '../../api/apiTypes.ts'
import { endpointsQuery } from './webhookQueries.ts'

/** Host and path of a URL, without a path that says nothing. */
export const placeOf = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '')

/** Its name, or else where it is; its id when it is not configured any more. */
export function endpointName({ endpoint, name, url }: Pick<EndpointReport, 'endpoint' | 'name' | 'url'>): string {
  return name ?? (url === null ? `endpoint ${endpoint}` : placeOf(url))
}

/** @returns an endpoint by its id; undefined before the endpoints are known, and for one that is gone */
export function useEndpoints(): (id: string) => EndpointReport | undefined {
  const { data } = useQuery(endpointsQuery)
  return (id) => data?.data.find((each) => each.endpoint === id)
}

/** @returns the name of an endpoint by its id, also before the endpoints are known */
export function useEndpointName(): (id: string) => string {
  const endpointOf = useEndpoints()
  return (id) => {
    const endpoint = endpointOf(id)
    return endpoint === undefined ? `endpoint ${id}` : endpointName(endpoint)
  }
}
