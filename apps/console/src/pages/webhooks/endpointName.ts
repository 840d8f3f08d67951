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

/** @returns the name of an endpoint by its id, also before the endpoints are known */
export function useEndpointName(): (id: string) => string {
  const { data } = useQuery(endpointsQuery)
  return (id) => {
    const endpoint = data?.data.find((each) => each.endpoint === id)
    return endpoint === undefined ? `endpoint ${id}` : endpointName(endpoint)
  }
}
