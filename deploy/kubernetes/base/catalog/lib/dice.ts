export function roll (count: number): number[] {
  return Array.from({ length: count }, () => 1 + Math.floor(Math.random() * 6))
}
