/* The few members of kernel structures that are read; libbpf finds their places in the running kernel (CO-RE). */
#ifndef WICK_BPF_KERNEL_H
#define WICK_BPF_KERNEL_H

#define BY_KERNEL __attribute__((preserve_access_index))
#define TASK_KTHREAD 0x00200000u /* PF_KTHREAD */

struct ns_common {
	unsigned int inum;
} BY_KERNEL;

struct pid_namespace {
	struct ns_common ns;
} BY_KERNEL;

struct upid { /* read whole: the same in all kernels since 4.15 */
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 */
} BY_KERNEL;

struct mm_struct {
	unsigned long start_stack;
} BY_KERNEL;

struct sched_entity {
	unsigned long long sum_exec_runtime;
} BY_KERNEL;

struct signal_struct {
	unsigned long long sum_sched_runtime; /* of threads that were released */
} BY_KERNEL;

struct task_struct {
	unsigned int flags;
	unsigned int __state;
	int pid, tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct sched_entity se;
	struct signal_struct *signal;
	unsigned in_execve : 1;
} BY_KERNEL;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} BY_KERNEL;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} BY_KERNEL;

struct perf_sample_data {
	unsigned long long data_page_size;
} BY_KERNEL;

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
} BY_KERNEL;

#endif
