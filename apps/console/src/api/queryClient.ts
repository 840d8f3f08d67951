// How responses are kept and requests repeated.
import { QueryClient } from '@tanstack/react-query'
import { isTemporary } from './apiErrors.ts'

const maxRetries = 2
const freshMs = 5_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMs,
      retry: (failures, error) => isTemporary(error) && failures < maxRetries,
      // Rows must not move because the reader looked at another window. Polling announces news.
      refetchOnWindowFocus: false,
    },
    mutations: { retry: false },
  },
})

/** How often a visible tab asks for news. */
export const pollMs = 10_000
