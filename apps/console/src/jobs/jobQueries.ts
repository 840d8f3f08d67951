// Long work that administrators started.
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, dataOf } from '../api/api.ts'
import type { Job } from '../api/apiTypes.ts'
import { pollMs } from '../api/queryClient.ts'

/** A job writes its progress every second. */
const progressMs = 1_500

const isRunning = (job: Job | undefined): boolean => job?.status === 'running'

/** One job, followed while it runs. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => dataOf(api.getJob({ path: { id }, signal })),
    refetchInterval: ({ state }) => isRunning(state.data) && progressMs,
  })

/** The newest jobs, the last one first. */
export const jobsQuery = queryOptions({
  queryKey: ['jobs'],
  queryFn: ({ signal }) => bodyOf(api.listJobs({ query: { limit: 50 }, signal })),
  refetchInterval: ({ state }) => (state.data?.data.some(isRunning) ? progressMs : pollMs),
})
