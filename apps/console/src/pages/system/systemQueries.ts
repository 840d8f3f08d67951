// The state of processes and read models.
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, dataOf } from '../../api/api.ts'
import { pollMs } from '../../api/queryClient.ts'

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: ({ signal }) => dataOf(api.getSystem({ signal })),
  refetchInterval: pollMs,
})

export const projectionsQuery = queryOptions({
  queryKey: ['projections'],
  queryFn: ({ signal }) => bodyOf(api.listProjections({ signal })),
  refetchInterval: pollMs,
})
